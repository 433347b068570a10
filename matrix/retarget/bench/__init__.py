"""Benchmarks: what records say of times and sizes, whether two differ by more than noise, and golden rules."""
