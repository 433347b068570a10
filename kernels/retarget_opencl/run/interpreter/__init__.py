"""Interprets host programs; unknown instructions are refused."""
