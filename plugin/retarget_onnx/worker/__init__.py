"""The tests of the package onnx, generated and read: needs onnx or NumPy, imported in workers and by commands."""
