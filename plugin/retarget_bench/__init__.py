"""Benchmarks: whether two differ by more than noise, golden rules, and the subcommand `bench` that compares results."""
