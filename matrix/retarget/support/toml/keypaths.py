"""Key paths: how an error says which value of a TOML file it is about."""

from __future__ import annotations

import re

from msgspec import Struct

KeyPath = tuple[str | int, ...]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_KEY_PATH_STEP = re.compile(r'\[(\d+)\]|\.?([A-Za-z0-9_-]+)|\.?"((?:[^"\\]|\\.)*)"')


class Problem(Struct, frozen=True):
    """An error of a file whose line is not known yet."""

    path: KeyPath
    message: str


def format_key_path(path: KeyPath) -> str:
    """Return the path as people write it: `target_config[2].runtimes[0]`, `env."A B"`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
            continue
        key = step if _BARE_KEY.fullmatch(step) else '"' + step.replace("\\", "\\\\").replace('"', '\\"') + '"'
        text += f".{key}" if text else key
    return text


def parse_key_path(text: str) -> KeyPath:
    """Return the path that `format_key_path` wrote as `text`."""
    steps: list[str | int] = []
    for match in _KEY_PATH_STEP.finditer(text):
        index, bare, quoted = match.groups()
        if index is not None:
            steps.append(int(index))
        else:
            steps.append(bare if bare is not None else re.sub(r"\\(.)", r"\1", quoted))
    return tuple(steps)
