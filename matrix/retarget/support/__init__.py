"""Utilities that depend on no other package: errors, terminal text, files, locks, TOML text with its lines."""
