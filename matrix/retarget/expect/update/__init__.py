"""Rewrites expectation rules from the results of a run."""
