"""More than one machine: compiles and runs on a Dask cluster; the subcommands `worker` and `cluster`."""
