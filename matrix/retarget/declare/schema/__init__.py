"""What may be written in declaration files: pydantic models, their errors, their export; tables kept without models."""

STAGES = ("compile", "load", "run", "compare", "crash", "timeout")
"""What an expectation can say of where a target fails."""

OUTCOMES = ("xfail", "skip", "flaky", "intermittent")
"""What an expectation can make of a failure."""
