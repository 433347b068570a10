"""The kind `onnx-backend`: the node tests of the ONNX project."""
