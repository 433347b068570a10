"""One target tried: compiled, run, judged by its rules, its failure in words; for pytest and `retarget run` alike."""
