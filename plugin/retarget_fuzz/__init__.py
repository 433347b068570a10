"""Programs made by Hypothesis, run on every selected config, and what fails kept once: the subcommand `fuzz`."""
