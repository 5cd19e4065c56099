"""The tools and resources over folders of documents."""
