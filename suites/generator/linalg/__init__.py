"""The suite `linalg`: one module per group of ops."""
