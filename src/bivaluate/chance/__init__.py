"""What noise and search alone would give."""
