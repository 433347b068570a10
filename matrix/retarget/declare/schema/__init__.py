"""What may be written in declaration files: pydantic models, their errors, their export; tables kept without models."""
