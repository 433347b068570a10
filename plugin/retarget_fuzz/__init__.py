"""Programs that nobody wrote, run on every selected target, and what disagrees kept: the subcommand `fuzz`."""
