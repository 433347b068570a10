"""OpenCL as a target of IREE: a compiler that writes OpenCL C, and a driver that runs it."""
