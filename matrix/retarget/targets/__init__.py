"""Declarations → targets: expansion, tags, selection expressions, what a host can run."""
