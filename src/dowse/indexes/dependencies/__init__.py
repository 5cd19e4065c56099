"""The packages that a project uses, as they are installed on this machine: found, indexed and searched."""
