"""Worker processes as their parent sees them: the protocol and the process handle."""
