"""`retarget ci verify`: no target is missing in CI, and none that was planned in its results."""
