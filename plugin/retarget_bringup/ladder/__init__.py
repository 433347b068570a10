"""The ladder of a backend: its two files, how far each target comes in results, and what `--check` makes of both."""
