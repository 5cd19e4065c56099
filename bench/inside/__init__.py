"""Programs that run inside semble's environment; nothing here imports dowse or the rest of the benchmark."""
