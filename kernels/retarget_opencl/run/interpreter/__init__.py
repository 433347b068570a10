"""Runs host programs: each instruction by name, none that is not in the table."""
