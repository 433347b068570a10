"""Compile targets and run targets as pytest items, and what expectations make of their outcomes."""
