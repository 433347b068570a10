"""The kinds `cases` and `onnx`: what to call, with what, and what to expect, in TOML beside the module."""
