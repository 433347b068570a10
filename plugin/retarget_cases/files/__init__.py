"""Reads cases files, in pytest's process too: no NumPy, nothing of what the values become."""
