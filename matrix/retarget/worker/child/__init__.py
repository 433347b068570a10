"""What runs inside a worker process. Outside this folder only `run_case` imports it."""
