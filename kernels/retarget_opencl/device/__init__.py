"""OpenCL devices, and the profiles that code is compiled for."""
