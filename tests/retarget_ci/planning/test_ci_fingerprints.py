"""Which targets have a fingerprint, what is in it, and why others have none. The engine is a double."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import ORIGIN, compile_target, run_target
from retarget.extension import UnavailableError
from retarget.model import CompileTarget, Suite, Target
from retarget.session import Declared, DeclaredTarget
from retarget_ci.planning import fingerprints as module
from retarget_ci.planning.fingerprints import Fingerprints, _references

SUITE = Suite(name="ops", folder=Path(), modules=(), kind="check", targets=(), origin=ORIGIN)
COMPILED, OTHER = compile_target("m", "c"), compile_target("m", "d")
RUN = run_target(COMPILED)
ID = "s.toml::ops"


class Registry:
    """Extensions, of which a kind has references."""

    def __init__(self, *references: str) -> None:
        def named(found: object, folder: Path, compiler: str) -> tuple[str, ...]:
            assert (found, folder) == (COMPILED.module, COMPILED.folder)
            return references if compiler == "c" else ()

        self.case_loaders = {"check": SimpleNamespace(references=named)}

    def artifact_checker(self, _: str) -> None:
        return None


def found_of(
    *targets: Target, references: tuple[str, ...] = (), files: Any = None, keys: Any = None, rules: str = ""
) -> Fingerprints:
    def generated(target: CompileTarget) -> CompileTarget:
        if target.name == "gone_c":
            msg = "no compiler here"
            raise UnavailableError(msg)
        return target

    engine: Any = SimpleNamespace(
        generated=generated,
        compile_key=lambda target: (keys or {}).get(target.name, f"key of {target.name}"),
        case_digests=SimpleNamespace(named_files=lambda _: files, of=lambda target, _=None: f"{target.name} {rules}"),
    )
    declared = [DeclaredTarget(suite_id=ID, suite=SUITE, target=target) for target in targets]
    registry: Any = Registry(*references)
    return module.fingerprints(Declared(registry=registry, targets=declared), engine)


def test_runs_on_other_hosts_have_other_fingerprints(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts: list[dict[str, object]] = [{}, {"host_arch": ("arm64",)}, {"host_os": ("macos",)}, {"host_os": ("arm64",)}]
    found = [found_of(run_target(COMPILED, **host)).of for host in hosts]
    assert len({one[f"{ID}::m_c_r"] for one in found}) == len(hosts)


def test_how_what_cases_agree_with_is_run_decides_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def of(config: str, *references: str) -> str:
        targets = (COMPILED, RUN, OTHER, run_target(OTHER, config))
        return found_of(*targets, references=references).of[f"{ID}::m_c_r"]

    assert of("r", "d") != of("s", "d")
    assert of("r") == of("s")


@pytest.mark.parametrize(
    ("targets", "known", "named", "unknown"),
    [
        (
            (COMPILED, RUN),
            {"files": [Path("data.npy"), Path("reference.py")]},
            ["m_c"],
            {"their cases name a Python file, which may read anything": 1},
        ),
        ((COMPILED, RUN), {"files": [Path("data.npy")]}, ["m_c", "m_c_r"], {}),
        ((COMPILED, RUN), {"keys": {"m_c": ""}}, [], {"flags are refused, or a module cannot be read": 2}),
        ((COMPILED, RUN), {"references": ("none",)}, ["m_c"], {"flags are refused, or a module cannot be read": 1}),
        ((compile_target("gone"), COMPILED), {}, ["m_c"], {"no compiler here": 1}),
    ],
)
def test_what_is_not_known_of_a_target_is_said(
    targets: tuple[Target, ...], known: dict[str, Any], named: list[str], unknown: dict[str, int]
) -> None:
    found = found_of(*targets, **known)
    assert ([name.rpartition("::")[2] for name in found.of], found.unknown) == (named, unknown)


def test_only_runs_of_known_kinds_have_references() -> None:
    registry: Any = Registry("d", "e")

    def of(target: Target) -> object:
        return _references(DeclaredTarget(suite_id=ID, suite=SUITE, target=target), registry)

    assert of(RUN) == ["m_d", "m_e"]
    assert of(COMPILED) == ()
    assert of(run_target(compile_target("m", "c", kind="none"))) == ()
