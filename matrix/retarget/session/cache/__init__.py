"""The cache: compile keys, stored outcomes, generated modules, artifacts carried to another machine."""
