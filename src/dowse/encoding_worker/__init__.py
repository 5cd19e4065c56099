"""The second phase: vectors that take long, made in a process of its own while everything else goes on."""
