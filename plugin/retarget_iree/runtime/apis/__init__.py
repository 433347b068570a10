"""What the drivers of devices say themselves: the features of a device, and why a library does not load."""
