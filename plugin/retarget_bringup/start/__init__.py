"""`retarget bringup start`: configs, a starter suite and a ladder for a new backend; for an extension its package."""
