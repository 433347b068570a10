"""`retarget init` and `retarget schema`: the first files of a folder, and the schema of all files."""
