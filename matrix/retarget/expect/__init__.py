"""Expectations: which rule is in force for a target, and the verdict that it gives."""
