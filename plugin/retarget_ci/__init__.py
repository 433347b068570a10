"""CI from the declarations: the subcommand `ci` plans legs, emits workflows, runs legs, and verifies that none is lost."""
