"""The kind `cases`: what to call, with what, and what to expect, in TOML beside the module."""
