"""The smallest tools: errors, terminal text, files, locks, TOML text with its lines."""
