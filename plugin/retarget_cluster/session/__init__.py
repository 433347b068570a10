"""The side of a session: it hands out compiles and runs."""
