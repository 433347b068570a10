"""The compile key: it changes with all that may change an artifact, and with nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from retarget.extension import Resolved
from retarget.session.cache.key import compile_key, host_identity

BASE = {"compiler": "iree", "source": b"module", "source_name": "a.mlir", "env": ()}


def key(*, build_id: str = "b", flags: tuple[str, ...] = ("-a", "-b"), **changes: object) -> str:
    facts = changes.pop("facts", ())
    code = changes.pop("code", "")
    resolved = Resolved(build_id=build_id, flags=flags, facts=facts, code=code)  # type: ignore[arg-type]
    return compile_key(resolved=resolved, **{**BASE, **changes})  # type: ignore[arg-type]


def test_a_fact_of_a_suffix_counts_for_its_modules_only() -> None:
    def of(name: str, *facts: tuple[str, str]) -> str:
        resolved = Resolved(build_id="b", flags=(), suffix_facts=facts)
        return compile_key(compiler="iree", source=b"module", source_name=name, resolved=resolved)

    assert of("a.mlir", (".onnx", "onnx 1")) == of("a.mlir", (".onnx", "onnx 2")) == of("a.mlir")
    assert of("a.onnx", (".onnx", "onnx 1")) != of("a.onnx", (".onnx", "onnx 2"))


@pytest.mark.parametrize(
    "change",
    [
        {"compiler": "other"},
        {"source": b"module "},
        {"source_name": "b.mlir"},
        {"build_id": "c"},
        {"code": "c"},
        {"flags": ("-b", "-a")},
        {"flags": ("-a -b",)},
        {"flags": ("-a", "-b", "")},
        {"facts": (("cpu", "znver4"),)},
        {"env": (("A", "1"),)},
        {"inputs": (("x.so", "1"),)},
        {"inputs": (("x.so", "2"),)},
    ],
)
def test_the_key_changes_with(change: dict[str, object]) -> None:
    assert key(**change) != key()  # type: ignore[arg-type]


CPUINFO = "processor\t: 0\nmodel name\t: Fast CPU\ncpu MHz\t\t: {mhz}\nflags\t\t: sse {flags}\n"


def identity(folder: Path, text: str) -> str:
    (folder / "cpuinfo").write_text(text)
    host_identity.cache_clear()
    return host_identity(folder / "cpuinfo")


def test_the_hosts_identity_changes_with_features_and_not_with_its_clock(tmp_path: Path) -> None:
    first = identity(tmp_path, CPUINFO.format(mhz=1000, flags="avx2"))
    assert identity(tmp_path, CPUINFO.format(mhz=2000, flags="avx2")) == first
    assert identity(tmp_path, CPUINFO.format(mhz=1000, flags="avx512f")) != first
    two_kinds = CPUINFO.format(mhz=1000, flags="avx2") + CPUINFO.format(mhz=1000, flags="sse2")
    assert identity(tmp_path, two_kinds) != first


def test_a_host_without_cpuinfo_has_an_identity(tmp_path: Path) -> None:
    assert len(host_identity(tmp_path / "gone")) == 64
