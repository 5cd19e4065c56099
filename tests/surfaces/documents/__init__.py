"""The documents surface: folders served as resources and searched."""
