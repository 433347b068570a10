"""The bring-up of one backend: the subcommand `bringup` shows how far each target comes, and holds it in a ladder."""
