"""Failures are reduced to one case and the smallest module that the compiler can make of its own."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest
from retarget.session import Engine
from retarget_repro.attempt import attempt, chosen_target
from retarget_repro.reduce import Reduced, reduce_failure

EXTENSION = '''\
"""Modules are words. One that has both `bad` and `worse` fails; the compiler can leave out a word."""
import sys
from pathlib import Path
import retarget.extension
from retarget.extension import *


class Compiler(retarget.extension.Compiler):
    name = "words"
    artifact_suffix = ".words"

    def fingerprint(self, config):
        return "1"

    def resolve(self, config, flags):
        return Resolved(build_id="1", flags=flags)

    def compile(self, request):
        words = request.source.decode().split()
        if {"bad", "worse"} <= set(words):
            raise CompilerError(f"error: bad {len(words)}", verdict=True)
        return Compiled(artifact=b"done")

    def shrink_command(self, source, folder, keep_types):
        return (sys.executable, __file__, str(source), str(folder))

    def reproduce(self, target, flags, output):
        return ("words",)


class Loader(CaseLoader):
    kind = "words"

    def load(self, request):
        return []


@hookimpl
def retarget_compilers(): return [Compiler()]
@hookimpl
def retarget_case_loaders(): return [Loader()]


if __name__ == "__main__":
    refused = set(sys.stdin.read().splitlines())
    words = Path(sys.argv[1]).read_text().split()
    print(f"{len(words)} words")
    edits = {"printed": " ".join(words)}
    edits |= {f"without {one}": " ".join(word for word in words if word != one) for one in words}
    for name, text in edits.items():
        if name not in refused:
            path = Path(sys.argv[2], f"{len(name)}-{name}")
            path.write_text(text)
            print(path, name, sep="\\t")
'''

SUITE = """\
[[compiler_config]]
name = "words"
compiler = "words"
[[target_config]]
name = "all"
compiler = "words"
runtimes = []
[[module_test_suite]]
name = "words"
srcs = ["*.txt"]
kind = "words"
targets = ["all"]
"""


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "suite.toml").write_text(SUITE)
    (tmp_path / "words_extension.py").write_text(EXTENSION)
    (tmp_path / "m.txt").write_text("a bad worse c")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("RETARGET_EXTENSIONS", "words_extension")


def _reduced(folder: Path) -> Reduced:
    arguments = argparse.Namespace(
        target="m_words", path=["."], ignore=[], retarget_extension=[], retarget_toolchain=[]
    )
    chosen = chosen_target(arguments)
    with Engine(registry=chosen.registry, cache=folder / "cache") as engine:
        found = attempt(engine, chosen)
    (out := folder / "out").mkdir()
    return reduce_failure(chosen, found, out, seconds=600, note=lambda _: None)


@pytest.mark.slow
def test_a_module_is_reduced_by_the_variants_of_its_compiler(tmp_path: Path) -> None:
    reduced = _reduced(tmp_path)
    assert reduced.steps == ("printed", "without a", "without c")
    assert reduced.target.module.path.read_text() == "bad worse"
