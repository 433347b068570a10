"""Failures packed so that they reproduce elsewhere: the subcommands `repro` and `bisect`."""
