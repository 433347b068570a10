"""Results in the formats of other tools: junit, CTRF, and Chrome's trace events."""
