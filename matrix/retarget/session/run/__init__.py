"""Parent side of running: device workers, leases of devices, the run service."""
