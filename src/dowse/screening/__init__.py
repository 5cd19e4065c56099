"""Screening of text before it is shown: secrets are masked, suspicious content gets a warning."""
