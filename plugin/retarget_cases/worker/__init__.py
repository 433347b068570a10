"""Written cases → arrays and cases that run: needs NumPy, imported in workers and by `retarget check`."""
