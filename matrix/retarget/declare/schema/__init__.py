"""What may be written in declaration files: pydantic models, their errors, their export for editors and docs."""
