"""Results of runs that need not be run again: what they depend on, and how they are kept."""
