"""TOML files → frozen suites, with every error of every file at once. The only user of pydantic."""
