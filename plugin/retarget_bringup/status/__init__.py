"""`retarget bringup NAME`: how far each target comes, what blocks the most, what moved, and what to do next."""
