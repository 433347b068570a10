"""`retarget repro --reduce`: the smallest case and module that still fail at the same stage with the same signature."""
