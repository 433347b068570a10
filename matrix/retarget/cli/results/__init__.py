"""`retarget results` and `retarget history`: what sessions found, merged, shown, compared, exported, kept."""
