"""The system around dowse: files, processes, signals, rights and the network."""
