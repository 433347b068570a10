"""From `suite.toml` to pytest items: files, marks, selection, what must run."""
