"""The subcommand `import-bazel`: check and lit test suites of IREE's BUILD.bazel files become declarations."""
