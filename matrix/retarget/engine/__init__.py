"""Compiles and runs targets in worker processes, for pytest and for the command line alike. No pytest here."""
