"""Targets without pytest: the subcommands `run` and `emit`, which has ctest run each target."""
