"""Writes the rules again from what a run showed."""
