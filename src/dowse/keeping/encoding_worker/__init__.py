"""The models of a server, in processes of their own, and the thread that has them encode chunks in the background."""
