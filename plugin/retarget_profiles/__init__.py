"""Device profiles as files: the subcommand `profile`, importers of other tools' reports, and profiles that ship."""
