"""A worker: compiles and runs for sessions, on one machine."""
