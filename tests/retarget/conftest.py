"""Its folder is on the import path: the packages below share `worker_doubles` and `targets_of_doubles`."""
