"""IREE as an extension: its compiler, the drivers of its runtime, and the kinds `check` and `run-module`."""
