"""What runs inside a worker process. No module outside this folder imports it."""

from __future__ import annotations
