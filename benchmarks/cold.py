"""A cold session against IREE's library in one process, in CPU time, and whether both give the same.

    python benchmarks/cold.py                                # ONNX's node tests: for one compiler config, and for four
    python benchmarks/cold.py --sample 24 --rounds 3
    python benchmarks/cold.py suites -m "not conformance" --sample 6

The process compiles each target in one step, one after the other. The session is of pytest: its cache is empty, only
generated modules are there. Both compile the same targets; among ONNX's node tests are some that print and some that
fail. CPU time is that of all processes of a side, their start included. Printed for each round, and for the least of
each side, to which other load adds nothing:

  one     session / process, for llvm-cpu                                   goal: at most 1.08
  four    the same for llvm-cpu, vmvx, vulkan and opencl                    goal: at most 0.85
  differ  targets whose artifact, error or diagnostics are not the same     none; exit status 1 if there are any

A process compiles until the compiler crashes, which costs the target, and another goes on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

from retarget.extension import CompileRequest, CompilerError, UnavailableError
from retarget.model import CompileTarget
from retarget.session import Declared, DeclaredTarget, Engine, Registry
from retarget.session.cache.generated import GENERATED_FOLDER
from retarget.support import RetargetError
from retarget_cases.onnx.manifest_file import read_manifest
from timed_project import quoted

MANIFEST = Path(__file__).parents[1] / "suites" / "onnx" / "nodes.toml"
CONFIGS = {
    "llvm-cpu": (
        "iree",
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=host",
    ),
    "vmvx": ("iree", "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"),
    "vulkan": ("iree", "--iree-hal-target-device=vulkan", "--iree-vulkan-target=vp_android_baseline_2022"),
    "opencl": ("iree-opencl", "--opencl-profile=generic"),
}
GOALS = {1: ("one", 1.08), len(CONFIGS): ("four", 0.85)}
SUITE = """
[[target_config]]
name = "all"
compiler = [{configs}]
runtimes = []

[[module_test_suite]]
name = "onnx"
srcs = ["nodes.toml"]
kind = "onnx-backend"
targets = ["all"]
compiler_flags = ["--iree-input-demote-f64-to-f32=false"]
timeout = 60
only = [{only}]
"""

_LINKED = re.compile(r"-[0-9a-f]{6}(?=\.s?o\b)")
"""The random part of the names of files that IREE has linked, which errors of the linker show."""

ItemT = TypeVar("ItemT")
Found = tuple[str, str]
"""What a compile gave: the artifact's digest, empty where it failed, and the error with what was printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """CPU seconds of one side, and what it found for the targets that it could say something of, by id."""

    cpu: float
    found: dict[str, Found]


def write_project(folder: Path, names: Sequence[str], configs: int) -> Path:
    """Declare ONNX's node tests of these names for the first `configs` of `CONFIGS`."""
    folder.mkdir()
    chosen = dict([*CONFIGS.items()][:configs])
    lines = ["root = true"]
    for name, (compiler, *flags) in chosen.items():
        lines += ["[[compiler_config]]", f'name = "{name}"', f'compiler = "{compiler}"', f"flags = [{quoted(flags)}]"]
    (folder / "matrix.toml").write_text("\n".join([*lines, ""]))
    (folder / "suite.toml").write_text(SUITE.format(configs=quoted([*chosen]), only=quoted(names)))
    shutil.copy(MANIFEST, folder / "nodes.toml")
    return folder


def in_one_process(registry: Registry, targets: Sequence[tuple[str, CompileTarget]]) -> Side:
    """Compile each target in one step, in a process that has not compiled before; in another after a crash."""
    found: dict[str, Found] = {}
    cpu, at = 0.0, 0
    while at < len(targets):
        reader, writer = os.pipe()
        if (child := os.fork()) == 0:
            warnings.simplefilter("ignore")
            for name, target in targets[at:]:
                os.write(writer, json.dumps([name, one_step(registry, target)]).encode() + b"\n")
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as lines:
            for line in lines:
                name, one = json.loads(line)
                at += 1
                if one is not None:
                    found[name] = (one[0], one[1])
        _, status, usage = os.wait4(child, 0)
        cpu += usage.ru_utime + usage.ru_stime
        if os.WIFEXITED(status) and status:
            sys.exit(1)  # an error of this script, which is shown already
        at += 1 if status else 0
    return Side(cpu=cpu, found=found)


def one_step(registry: Registry, target: CompileTarget) -> Found | None:
    """Compile a target in this process; None where this machine cannot."""
    compiler, path = registry.compiler(target.compiler.compiler), target.module.path
    try:
        resolved = compiler.resolve(target.compiler, target.flags)
        source = path.read_bytes()
        request = CompileRequest(source=source, source_name=path.name, source_path=path, resolved=resolved)
        compiled = compiler.compile(request)
    except CompilerError as error:
        return "", said(f"{error}", error.diagnostics)
    except (RetargetError, UnavailableError):
        return None
    return hashlib.sha256(compiled.artifact).hexdigest(), said("", compiled.diagnostics)


def said(summary: str, diagnostics: str) -> str:
    return _LINKED.sub("", f"{summary}\n{diagnostics}".strip())


def in_session(folder: Path, registry: Registry, targets: Sequence[tuple[str, CompileTarget]], made: Path) -> Side:
    """Compile the targets in a session of pytest, whose cache has what was generated in `made`, and nothing else."""
    with tempfile.TemporaryDirectory(prefix="retarget-benchmark-") as name:
        cache, ids = Path(name, "cache"), Path(name, "ids")
        cache.mkdir()
        if made.is_dir():
            shutil.copytree(made, cache / made.name, symlinks=True)
        ids.write_text("\n".join(one for one, _ in targets))
        argv = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider", f"@{ids}"]
        environment = os.environ | {
            "RETARGET_CACHE_DIR": str(cache),
            "PYTHONWARNINGS": "ignore",
        }  # once in each process
        with Path(name, "output").open("w+b") as output:
            process = subprocess.Popen(argv, cwd=folder, env=environment, stdout=output, stderr=output)
            _, status, usage = os.wait4(process.pid, 0)
            output.seek(0)
            if not os.WIFEXITED(status) or os.WEXITSTATUS(status) not in {0, 1}:  # 1: some targets failed
                sys.exit(f"benchmark: pytest ended with status {status}:\n{output.read().decode()}")
        with Engine(registry=registry, cache=cache) as engine:
            outcomes = {one: what_was_found(engine, target) for one, target in targets}
    found = {one: outcome for one, outcome in outcomes.items() if outcome is not None}
    return Side(cpu=usage.ru_utime + usage.ru_stime, found=found)


def what_was_found(engine: Engine, target: CompileTarget) -> Found | None:
    """Return what a session has stored of a compile; None where it cannot be done here, and of what is not stored."""
    try:
        outcome = engine.compile(target)
    except (RetargetError, UnavailableError):
        return None
    if outcome.failure is not None and outcome.failure.transient:
        return None
    if not outcome.reused and outcome.key:
        sys.exit(f"benchmark: the session did not compile {target.suite}: {target.name}")
    if outcome.failure is not None:
        return "", said(outcome.failure.summary, outcome.diagnostics or outcome.failure.text)
    assert outcome.artifact is not None
    return outcome.artifact.digest, said("", outcome.diagnostics)


def kinds(found: Sequence[Found]) -> str:
    """Return how many targets have which outcome."""
    counts = Counter(
        "failed" if not digest else "compiled, with diagnostics" if text else "compiled" for digest, text in found
    )
    return ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items()))


def both(folder: Path, declared: Declared, chosen: Sequence[DeclaredTarget]) -> Iterator[tuple[Side, Side]]:
    """Compile in both ways, in turns, as often as wanted: yield the process, then the session."""
    with tempfile.TemporaryDirectory(prefix="retarget-benchmark-") as name, ExitStack() as stack:
        cache = Path(name)
        engine = stack.enter_context(Engine(registry=declared.registry, cache=cache))
        targets = [(one.id, engine.generated(one.compiled)) for one in chosen]
        compiled = [(one.id, one.compiled) for one in chosen]
        while True:
            process = in_one_process(declared.registry, targets)
            yield process, in_session(folder, declared.registry, compiled, cache / GENERATED_FOLDER)


def compare(folder: Path, declared: Declared, chosen: Sequence[DeclaredTarget], rounds: int) -> tuple[float, int]:
    """Compile in both ways, in turns. Return the least session / the least process, and how many targets differ."""
    spent, differ = [], set()
    for number, (process, session) in enumerate(islice(both(folder, declared, chosen), rounds)):
        known = process.found.keys() & session.found.keys()
        differ |= {one for one in known if process.found[one] != session.found[one]}
        spent.append((process.cpu, session.cpu))
        if number == 0:
            print(f"{len(chosen)} targets: {kinds([*process.found.values()])}")
        ratio = session.cpu / process.cpu
        print(f"  process {process.cpu:.1f} s, session {session.cpu:.1f} s CPU: {ratio:.3f}", flush=True)
    for one in sorted(differ):
        print(f"  differs: {one}")
    of_process, of_session = map(min, zip(*spent, strict=True))
    return of_session / of_process, len(differ)


def spread(everything: Sequence[ItemT], number: int) -> list[ItemT]:
    """Return that many, evenly spread; all of them for 0."""
    every = max(1.0, len(everything) / number) if number else 1.0
    return [everything[int(at * every)] for at in range(int(len(everything) / every))]


@contextmanager
def onnx(*, configs: int, sample: int) -> Iterator[tuple[Path, Declared, Sequence[DeclaredTarget]]]:
    """Declare so many of ONNX's node tests for the first `configs` of `CONFIGS`: what `both` and `compare` want."""
    names = spread([*read_manifest(MANIFEST).tests], sample)
    with tempfile.TemporaryDirectory(prefix="retarget-benchmark-") as name:
        folder = write_project(Path(name, "onnx"), names, configs)
        declared = Declared.collect(folder, ["."])
        yield folder, declared, declared.targets


def main() -> int:
    """Compile, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", nargs="*", help="suites (default: 96 of ONNX's node tests)")
    parser.add_argument("-m", dest="mark", default="", metavar="EXPR", help="select by tags")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="N modules, evenly spread")
    parser.add_argument("--configs", type=int, choices=GOALS, help="for so many compiler configs alone")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="how often each side compiles (default: 1)")
    options = parser.parse_args()
    if options.path:
        folder = Path.cwd()
        declared = Declared.collect(folder, options.path, mark=options.mark)
        modules = defaultdict(list)
        for one in declared.targets:
            if isinstance(one.target, CompileTarget) and not one.target.returns_checks:  # a session rewrites these
                modules[one.suite_id, one.target.module.name].append(one)
        chosen = [one for targets in spread([*modules.values()], options.sample) for one in targets]
        ratio, differ = compare(folder, declared, chosen, options.rounds)
        print(f"ratio  {ratio:.3f}\ndiffer {differ}")
        return 1 if differ else 0
    differ = 0
    for configs in [options.configs] if options.configs else [*GOALS]:
        title, goal = GOALS[configs]
        with onnx(configs=configs, sample=options.sample or 96) as declared_nodes:
            ratio, more = compare(*declared_nodes, options.rounds)
        differ += more
        print(f"{title:<6} {ratio:.3f} (goal: at most {goal})")
    print(f"differ {differ}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
