"""Profile files that ship: measured on a device, or generic with the source of each value. No code."""
