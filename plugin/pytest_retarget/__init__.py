"""The pytest plugin: `suite.toml` files become named pytest items.

Nothing is imported here, so that a project without matrix files pays nothing.
"""
