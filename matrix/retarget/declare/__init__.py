"""TOML files → frozen suites, with every error of every file at once. The core's only user of pydantic."""
