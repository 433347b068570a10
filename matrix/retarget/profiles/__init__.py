"""Device profiles: what a device can do, as data and as checked-in files, with where each value came from."""

from __future__ import annotations

from retarget.support.doors import door

__getattr__ = door(__name__, __file__)
