"""Which targets have a fingerprint, what is in it, and why others have none. The engine is a double."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import ORIGIN, compile_target, run_target
from retarget.extension import UnavailableError
from retarget.model import CompileTarget, Suite, Target, Toolchain
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


@pytest.mark.parametrize("agrees", [False, True])
def test_runs_on_other_hosts_or_of_other_builds_and_compiles_with_other_limits_have_other_fingerprints(
    agrees: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    hosts: list[dict[str, object]] = [{"host_arch": ("arm64",)}, {"host_os": ("macos",)}, {"host_os": ("arm64",)}]
    places = (Path("/opt/iree"), Path("/opt/iree-2"), tmp_path / "iree")
    builds = [{"toolchain": Toolchain(name="t", path=path, origin=ORIGIN)} for path in places]

    def of(timeout: float | None = None, **fields: object) -> str:
        other = compile_target("m", "d", timeout=timeout)
        last = (COMPILED, RUN, other, run_target(other, **fields)) if agrees else (other, run_target(other, **fields))
        return found_of(*last, references=("d",) * agrees).of[f"{ID}::m_{'c' if agrees else 'd'}_r"]

    assert len({of(), of(5.0), *(of(**one) for one in (*hosts, *builds))}) == 2 + len(hosts) + len(builds)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")  # another checkout
    inside = Toolchain(name="t", path=Path.cwd() / "iree", origin=ORIGIN)
    here = of(toolchain=inside)
    monkeypatch.chdir(tmp_path)
    assert here == of(**builds[-1])


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
