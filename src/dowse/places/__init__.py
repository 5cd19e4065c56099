"""A place: one LanceDB table with the code of many projects, in a folder, a bucket or a LanceDB server."""
