"""Device leases between processes: so many runs at a time per physical device, whoever starts them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from ..errors import RetargetError

__all__ = ["DeviceLeases"]

_FIRST_PAUSE = 0.002
_LONGEST_PAUSE = 0.05


class DeviceLeases:
    """Leases held as file locks in one folder; the system frees them when their holder dies.

    A device has numbered slots; a runtime config with `concurrency = n` may take one of the first n. Devices are leased
    in one order by everyone, so that two configs with two devices each cannot wait for one another.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._locks: dict[tuple[str, int], FileLock] = {}

    @contextmanager
    def hold(self, physical_ids: Sequence[str], concurrency: int) -> Iterator[float]:
        """Hold one slot of each device; wait for it as long as it takes. Yields the seconds waited.

        Raises `RetargetError` if the folder cannot be written.
        """
        start = time.monotonic()
        with ExitStack() as held:
            for physical_id in sorted(set(physical_ids)):
                held.callback(self._acquire(physical_id, concurrency).release)
            yield time.monotonic() - start

    def _acquire(self, physical_id: str, concurrency: int) -> FileLock:
        pause = _FIRST_PAUSE
        while True:
            for slot in range(max(1, concurrency)):
                lock = self._lock(physical_id, slot)
                try:
                    lock.acquire(blocking=False)
                except Timeout:
                    continue
                except OSError as error:
                    msg = (
                        f"the folder of device leases {self._folder} cannot be written: {error.strerror or error}; "
                        "give another cache folder with --retarget-cache-dir or RETARGET_CACHE_DIR"
                    )
                    raise RetargetError(msg) from error
                return lock
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _lock(self, physical_id: str, slot: int) -> FileLock:
        lock = self._locks.get((physical_id, slot))
        if lock is None:
            name = hashlib.sha256(physical_id.encode()).hexdigest()[:32]
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                msg = (
                    f"the folder of device leases {self._folder} cannot be made: {error.strerror or error}; "
                    "give another cache folder with --retarget-cache-dir or RETARGET_CACHE_DIR"
                )
                raise RetargetError(msg) from error
            lock = self._locks[physical_id, slot] = FileLock(self._folder / f"{name}-{slot}.lock")
        return lock
