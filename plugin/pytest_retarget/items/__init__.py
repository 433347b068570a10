"""Compile targets and run targets as pytest items: their trials in pytest's terms."""
