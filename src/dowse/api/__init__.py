"""What a Python program asks: `import dowse` takes its public names from here."""
