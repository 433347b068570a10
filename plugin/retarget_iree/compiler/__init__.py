"""Compiles with IREE: flags, the host's CPU, ONNX models, and artifacts as text. Runs in compile workers."""
