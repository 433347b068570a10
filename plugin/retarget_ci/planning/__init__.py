"""`retarget ci plan`: which runner takes which target, and how each runner's targets are cut into legs."""
