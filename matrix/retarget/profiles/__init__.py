"""Device profiles: what a device can do, as data and as checked-in files, with where each value came from."""
