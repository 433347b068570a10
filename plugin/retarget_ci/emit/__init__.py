"""Workflows of CI systems, written from `ci.toml`, and the legs of a plan in their words."""
