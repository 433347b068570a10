"""The compiler `iree-opencl`: IREE's front end, then kernels and host program."""
