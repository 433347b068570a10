"""TOML text: read it, and find the line of a key."""
