"""CI from the declarations: the subcommand `ci` plans legs, emits workflows, runs legs, verifies that none is lost."""

CI_FILE = "ci.toml"
LOCK_FILE = "ci.lock"
