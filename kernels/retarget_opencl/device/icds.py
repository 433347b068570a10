"""Why OpenCL platforms do not load: the loader passes over a driver (ICD) whose library does not, and says nothing."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

__all__ = ["icd_complaints"]


def icd_complaints() -> tuple[str, ...]:
    """Return for each registered driver (`*.icd`) whose library does not load why that is so."""
    found = []
    folder = Path(os.environ.get("OCL_ICD_VENDORS") or os.environ.get("OPENCL_VENDOR_PATH") or "/etc/OpenCL/vendors")
    for file in sorted(folder.glob("*.icd")):
        try:
            ctypes.CDLL(file.read_text(encoding="utf-8").strip())
        except (OSError, UnicodeDecodeError) as error:
            found.append(f"{file}: {error}")
    return tuple(found)
