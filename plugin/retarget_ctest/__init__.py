"""Targets for other tools: `run`, a session with a line for each target, and `emit`, which has ctest run each."""
