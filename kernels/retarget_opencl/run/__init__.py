"""The driver `opencl`: opened devices, loaded programs, and the commands that run on the queue."""
