"""Targets for other tools: the subcommand `emit` writes files with which ctest runs each with `retarget run`."""
