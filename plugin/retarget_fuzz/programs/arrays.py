"""What the arguments of a program hold."""

from __future__ import annotations

import numpy as np

from retarget_fuzz.programs.ir import Type
from retarget_fuzz.programs.oracle import Array, dtype_of, limits

__all__ = ["FILLS", "filled"]

FILLS = ("small", "normal", "wide", "special")


def filled(kind: Type, fill: str, seed: int, below: int = 0) -> Array:
    """An array of that type. `fill` is one of `FILLS`, or what makes an operation defined: `divisor` (neither 0 nor
    -1), `shift` (below the width), `index` (from 0, less than `below`)."""
    random = np.random.default_rng(seed)
    array = (_floats if kind.is_float else _integers)(random, kind, fill, below)
    return array.astype(dtype_of(kind.element))


def _floats(random: np.random.Generator, kind: Type, fill: str, _below: int) -> Array:
    if fill == "small":
        return random.integers(-4, 5, kind.shape).astype(np.float64)
    values = random.standard_normal(kind.shape)
    if fill == "wide":
        return values * 2.0 ** random.integers(-10, 10, kind.shape)
    if fill == "divisor":
        return np.copysign(np.abs(values) + 0.25, values)
    if fill == "special":
        of = limits(kind.element)
        special = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, of.largest, -of.largest, of.tiny, of.tiny / 4, of.eps]
        return np.where(random.integers(0, 4, kind.shape) == 0, random.choice(special, kind.shape), values)
    return values


def _integers(random: np.random.Generator, kind: Type, fill: str, below: int) -> Array:
    if kind.element == "i1":
        return random.integers(0, 2, kind.shape)
    if fill == "small":
        return random.integers(-4, 5, kind.shape)
    if fill in {"shift", "index"}:
        return random.integers(0, below or kind.bits, kind.shape)
    info = np.iinfo(dtype_of(kind.element))
    values = random.integers(info.min, info.max, kind.shape, dtype=info.dtype, endpoint=True)
    if fill == "divisor":
        values = values >> random.integers(0, kind.bits, kind.shape, dtype=info.dtype)
        return np.where((values == 0) | (values == -1), 3, values)
    if fill == "special":
        special = random.choice(np.array([info.min, info.max, -1, 0, 1], info.dtype), kind.shape)
        return np.where(random.integers(0, 2, kind.shape) == 0, special, values)
    return np.asarray(values)
