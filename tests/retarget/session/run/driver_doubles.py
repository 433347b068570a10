"""Drivers whose device is host memory, and which crash, hang or raise at a chosen call. An extension for workers."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from typing import Any

from memory_doubles import Memory
from retarget import extension
from retarget.model import RuntimeConfig
from retarget.model.outcomes import DeviceInfo
from worker_doubles import DoubleDriver


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def hang() -> None:
    time.sleep(3600)


def fail() -> None:
    raise ZeroDivisionError


ACTIONS: dict[str, Callable[[], None]] = {"crash": crash, "hang": hang, "fail": fail}


class ActingMemory(Memory):
    """Does what the flags `--METHOD=ACTION` say instead of a method."""

    def __init__(self, infos: list[DeviceInfo], flags: Iterable[str]) -> None:
        super().__init__()
        self.infos = infos
        for flag in flags:
            method, _, action = flag.removeprefix("--").partition("=")
            setattr(self, method, lambda *_, act=ACTIONS[action]: act())


class MemoryDriver(DoubleDriver):
    def open(self, config: RuntimeConfig) -> Any:
        if not config.flags or config.flags[0] in {"--absent", "--broken"}:
            return super().open(config)  # a device without the protocol, or none
        return ActingMemory(list(self.probe()), (flag for flag in config.flags if flag != "--transfers"))


@extension.hookimpl
def retarget_drivers() -> Iterable[extension.Driver]:
    return (MemoryDriver("double"),)
