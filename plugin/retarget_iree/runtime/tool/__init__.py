"""Runs artifacts with `iree-run-module`, behind `run_under` or for a toolchain. Used in device workers."""
