"""The subcommand `import-xfails`: config files of iree-test-suites become configs and expectation rules."""
