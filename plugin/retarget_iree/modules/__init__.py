"""MLIR modules: how much is in one, and smaller variants of it."""
