"""What the terminal and junit show: failures, progress, the summary."""
