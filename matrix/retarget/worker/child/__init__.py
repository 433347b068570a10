"""What runs inside a worker process. No module outside this folder imports it."""
