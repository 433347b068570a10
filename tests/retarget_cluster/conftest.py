"""For the tests of the cluster: the test doubles of the engine's tests are importable, here and in workers."""

from __future__ import annotations

import sys
from pathlib import Path

_DOUBLES = str(Path(__file__).parents[1] / "retarget")
if _DOUBLES not in sys.path:
    sys.path.append(_DOUBLES)
