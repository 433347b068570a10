"""`retarget compare`: a module in two ways, or all selected targets with two toolchains."""
