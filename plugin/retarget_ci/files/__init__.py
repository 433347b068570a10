"""`ci.toml`: what may be written in it, and how it is read, with every error at once."""

CI_FILE = "ci.toml"
LOCK_FILE = "ci.lock"
