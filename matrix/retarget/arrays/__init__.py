"""NumPy arrays: files of them, comparison, the report of a mismatch. Never imported in pytest's process."""
