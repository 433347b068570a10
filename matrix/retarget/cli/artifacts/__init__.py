"""`retarget cache` and `retarget show`: the store of artifacts, and an artifact as text."""
