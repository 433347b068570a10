"""MLIR modules: made of ONNX models, how much is in one, and smaller variants of it."""
