"""The host program: what IREE's `util`, `stream` and `cf` ops become, as plain data.

A program is registers and instructions. It holds nothing executable: `retarget_opencl.interpreter` knows each
instruction by name and refuses any other.
"""

from __future__ import annotations
