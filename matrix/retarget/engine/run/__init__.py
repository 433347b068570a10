"""Parent side of running: device workers, leases of devices, the run service."""

from __future__ import annotations
