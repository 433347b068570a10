"""The kind `run-module`: flagfiles of `iree-run-module` give the inputs and the expected outputs of a module."""
