"""OpenCL devices, and the profiles that code is compiled for."""

from __future__ import annotations
