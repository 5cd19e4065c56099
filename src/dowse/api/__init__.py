"""The Python library: `import dowse` takes its public names from here."""
