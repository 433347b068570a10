"""Bundles: what is in one, how it is written, packed, opened and reproduced, and the `repro.py` that goes into it."""
