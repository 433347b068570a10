"""What it gives to compile the front half once, and whether the artifacts are the same.

    python3 benchmarks/front_half.py suites/onnx -m conformance --sample 60
    python3 benchmarks/front_half.py suites/onnx -m conformance -k llvm-cpu --sample 60
    python3 benchmarks/front_half.py suites -m "not conformance"

Compiles the selected compile targets, each in one step and as sessions do: the phases before IREE assigns devices once
for all compiler configs of a module whose flags agree on them, the rest for each. Printed, in CPU time:

  saved    by sharing / CPU time of one step each: at least 15 % over four compiler configs, and nothing lost with one
  differ   targets whose artifact, error or diagnostics are not the same: none; exit status 1 if there are any

A process compiles until the compiler crashes, which costs the module, and another goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from retarget.cli.support import add_expression_arguments, add_path_arguments, read_declared, request_of
from retarget.engine.cache.folder import cache_of_command
from retarget.engine.engine import Engine
from retarget.extension import CompileRequest, CompilerError, Resolved, UnavailableError
from retarget.extension.registry import Registry
from retarget.model import CompilerConfig, CompileTarget
from retarget.support.errors import RetargetError

_LINKED = re.compile(r"-[0-9a-f]{6}(?=\.s?o\b)")
"""The random part of the names of files that IREE has linked, which errors of the linker show."""

Fronts = dict[tuple[str, tuple[str, ...]], tuple[bytes, str]]
"""What front ends gave for a module, by compiler and flags: the output, and the error with what was printed."""


def in_one_step(registry: Registry, target: CompileTarget, resolved: Resolved, source: bytes) -> tuple[bytes, str]:
    return _step(registry, target, resolved, source, None, is_front=False)


def in_steps(
    registry: Registry, target: CompileTarget, resolved: Resolved, source: bytes, fronts: Fronts, *, is_front: bool
) -> tuple[bytes, str]:
    """Compile as `retarget.engine.compile.steps` does, without a store."""
    if resolved.front_end is None:
        return _step(registry, target, resolved, source, None, is_front=is_front)
    of = (resolved.front_end.compiler or target.compiler.compiler, resolved.front_end.flags)
    if of not in fronts:
        fronts[of] = in_steps(registry, target, resolved.front_end, source, fronts, is_front=True)
    made, printed = fronts[of]
    if not made:
        return made, printed
    artifact, more = _step(registry, target, resolved, source, made, is_front=is_front)
    return artifact, more if is_front or resolved.front_end.front_end is None else printed + more


def _step(
    registry: Registry, target: CompileTarget, resolved: Resolved, source: bytes, front: bytes | None, *, is_front: bool
) -> tuple[bytes, str]:
    compiler = registry.compiler(resolved.compiler or target.compiler.compiler)
    path = target.module.path
    request = CompileRequest(source=source, source_name=path.name, source_path=path, resolved=resolved, front_end=front)
    try:
        compiled = compiler.run_front_end(request) if is_front else compiler.compile(request)  # type: ignore[attr-defined]
    except (CompilerError, UnavailableError) as error:
        return b"", _LINKED.sub("", f"{error}\n{getattr(error, 'diagnostics', '')}")
    return compiled.artifact, _LINKED.sub("", compiled.diagnostics)


class Resolutions:
    """What the configs come to on this machine, each asked once."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._known: dict[tuple[CompilerConfig, tuple[str, ...]], Resolved | None] = {}

    def of(self, target: CompileTarget) -> Resolved | None:
        """Return what a target's flags come to; None where this machine cannot say."""
        config, flags = target.compiler, target.flags
        if (config, flags) not in self._known:
            try:
                self._known[config, flags] = self.registry.compiler(config.compiler).resolve(config, flags)
            except (CompilerError, RetargetError, UnavailableError):
                self._known[config, flags] = None
        return self._known[config, flags]


def compile_both_ways(resolutions: Resolutions, targets: Sequence[CompileTarget]) -> dict[str, Any]:
    """Return CPU seconds of both ways for the targets of a module, and the names of those that differ."""
    fronts: Fronts = {}
    seconds = [0.0, 0.0]
    differ = []
    for target in targets:
        resolved, registry = resolutions.of(target), resolutions.registry
        if resolved is None:
            continue
        source = target.module.path.read_bytes()
        start = time.process_time()
        whole = in_one_step(registry, target, resolved, source)
        middle = time.process_time()
        steps = in_steps(registry, target, resolved, source, fronts, is_front=False)
        seconds[0] += middle - start
        seconds[1] += time.process_time() - middle
        if steps != whole:
            differ.append(f"{target.suite}: {target.name}")
    return {"seconds": seconds, "differ": differ, "targets": len(targets)}


def measured(registry: Registry, modules: Sequence[Sequence[CompileTarget]]) -> Iterator[dict[str, Any]]:
    """Yield the results of modules, from child processes: one that crashes is followed by another."""
    at = 0
    while at < len(modules):
        reader, writer = os.pipe()
        if (child := os.fork()) == 0:
            resolutions = Resolutions(registry)
            compile_both_ways(resolutions, modules[0])  # what a compiler does once is not measured
            for one in modules[at:]:
                os.write(writer, json.dumps(compile_both_ways(resolutions, one)).encode() + b"\n")
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as lines:
            for line in lines:
                yield json.loads(line)
                at += 1
        status = os.waitpid(child, 0)[1]
        if os.WIFEXITED(status) and status:
            sys.exit(1)  # an error of this script, which is shown already
        if status:
            print(f"  crashed: {modules[at][0].module.name}", flush=True)
        at += 1


def main() -> int:
    """Compile, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_path_arguments(parser)
    add_expression_arguments(parser)
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="N modules, evenly spread (default: all)")
    parser.set_defaults(path=["suites"], retarget_extension=[])
    options = parser.parse_args()
    declared = read_declared(request_of(options, options.path))
    modules: dict[tuple[str, str], list[CompileTarget]] = defaultdict(list)
    with Engine(registry=declared.registry, cache=cache_of_command().folder) as engine:
        for one in declared.suites:
            for target in one.selected:
                if isinstance(target, CompileTarget):
                    modules[one.suite.name, target.module.name].append(target)
        every = max(1.0, len(modules) / options.sample) if options.sample else 1.0
        chosen = [list(modules.values())[int(at * every)] for at in range(int(len(modules) / every))]
        chosen = [[engine.generated(target) for target in targets] for targets in chosen]
    seconds, differ, targets = [0.0, 0.0], [], 0
    for found in measured(declared.registry, chosen):
        seconds = [mine + its for mine, its in zip(seconds, found["seconds"], strict=True)]
        targets += found["targets"]
        differ += found["differ"]
        for name in found["differ"]:
            print(f"  differs: {name}", flush=True)
    print(f"{targets} targets of {len(chosen)} modules: {seconds[0]:.1f} s in one step each, {seconds[1]:.1f} s shared")
    print(f"saved  {1 - seconds[1] / seconds[0]:.1%}\ndiffer {len(differ)}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
