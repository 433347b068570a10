"""Names for configs, from the flags that distinguish them and the names of the suites that use them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from retarget.model.names import as_config_name

__all__ = ["flag_words", "unique", "words_beside"]

_STAGES = re.compile(
    r"^(?:iree|llvmcpu|llvmgpu|vmvx|vulkan|spirv|cuda\d*|rocm|hip|metal|hal|flow|stream|opt|codegen|global|preprocessing"
    r"|experimental|dispatch-creation|input|target|enable|cpu|gpu)(?:-|$)"
)
"""What flags begin with that does not tell them apart."""

_VALUE = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,31}")
_DROPPED = {"check", "test", "tests", "suite", "e2e"}
_LONGEST = 32


def flag_words(flags: Sequence[str]) -> str:
    """Return words for flags: `generic` for `--iree-llvmcpu-target-cpu=generic`; empty where they would be long."""
    words = "-".join(filter(None, map(_words_of, flags)))
    return words if len(words) <= _LONGEST else ""


def _words_of(flag: str) -> str:
    name, _, value = flag.lstrip("-").partition("=")
    switch = value.lower() in ("", "true", "false", "1", "0")
    if not switch and _VALUE.fullmatch(value):
        return as_config_name(value)
    short = name.replace("_", "-")
    while (found := _STAGES.match(short)) and found.end() < len(short):
        short = short[found.end() :]
    if switch:
        return f"no-{short}" if value.lower() in ("false", "0") else as_config_name(short)
    return as_config_name(f"{short}-{value}")


def words_beside(calls: Collection[str], known: Collection[str]) -> str:
    """Return the words that all names of suites have besides the known ones: `graph` of `check_cuda_graph`.

    `known` are names of backend, driver and folder, which the names of suites repeat.
    """
    left = {_beside(call, known) for call in calls}
    return left.pop() if len(left) == 1 else ""


def _beside(call: str, known: Collection[str]) -> str:
    text = f"_{call}_"
    for word in sorted(known, key=len, reverse=True):
        text = re.sub(rf"(?<=[_-]){re.escape(word)}(?=[_-])", "", text)
    words = [word for word in re.split(r"[^A-Za-z0-9.]+", text) if word and word not in _DROPPED]
    return "-".join(words)


def unique(name: str, taken: Collection[str]) -> str:
    """Return a name that is not taken: itself, or with a number."""
    number, found = 2, name
    while found in taken:
        found, number = f"{name}-{number}", number + 1
    return found
