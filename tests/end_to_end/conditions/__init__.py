"""The product where the system behaves badly: clocks, disks, watches and processes that are not as they should be."""
