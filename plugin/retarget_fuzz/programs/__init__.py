"""Programs for `retarget fuzz`: how they are drawn, how they read in MLIR, and what they have to return."""
