"""`retarget bisect`: the first release of a compiler or its runtime with which a target fails."""
