"""What happened to each target, as records on disk, and the plan of a CI run that they answer to."""

from __future__ import annotations

from retarget.support.doors import door

__getattr__ = door(__name__, __file__)
