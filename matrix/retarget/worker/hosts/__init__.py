"""Remote hosts: a shell on one, and the files and calls of a tool there. A host needs a POSIX shell, no Python."""
