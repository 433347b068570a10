"""For the tests of `retarget ci`; with it, pytest finds the modules of this folder."""
