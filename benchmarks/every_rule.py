"""Deletes each rule of the OpenCL translation, one after the other, and sees whether the ladder names what that cost.

    python3 benchmarks/every_rule.py WORK [--suites linalg integer …] [--rules GLOB] [--targets 2] [--minutes N]

In the folder WORK, which has a copy of the suites and a cache of its own, all their OpenCL targets run once, the ladder
is written from that, and it is recorded which module uses which rule. Then, for each rule, up to `--targets` of the
targets that use it run without it, and `retarget bringup opencl --check` must name each that fell with both rungs. Each
rule gives a line of WORK/rules.jsonl; what has one is not tried again, so that the command may be interrupted and given
again, also with more suites. A rule is an entry of the tables in `clc/ops` or `hostprog`. The product knows nothing of
this: an extension in WORK takes the rule away. Exit status 1 if a target fell that `--check` did not name.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from retarget.cli import main as retarget
from retarget.results import Sessions, TargetRecord
from retarget_opencl.clc.ops import RULES
from retarget_opencl.hostprog.rules import HOST_RULES

ROOT = Path(__file__).parents[1]
OWN = Path(__file__).with_name("rules")
"""Modules for rules that no shipped module needs."""
OWN_SUITE = '[[module_test_suite]]\nname = "rules"\nsrcs = ["*.mlir"]\nkind = "check"\ntargets = ["opencl"]\n'

SUITES = (
    *("cases", "control-flow", "dynamic", "float16", "float64", "integer", "linalg", "linalg-ext", "quantised"),
    *("run-module", "small-types", "stablehlo", "state", "tensor", "tosa"),
)
SETTINGS = 'paths = ["suites"]\nselect = "opencl and run and not conformance"\n'

EXTENSION = '''\
"""Takes the rule away that RULE_DROPPED names, and records in RULES_USED which module uses which rule."""

import json
import os

import retarget_opencl.compile.compiler as compiler
from retarget.extension import hookimpl
from retarget_opencl.builds import translation_build

compiler.translation_build = lambda: f"{translation_build()} {os.environ.get('RULE_DROPPED', '')}{_LOG and 'logged'}"
_LOG = os.environ.get("RULES_USED", "")
_USED = set()
_COMPILE = compiler.OpenClCompiler.compile


def _prepare():
    from retarget_opencl.clc.ops import RULES
    from retarget_opencl.clc.ops.table import RuleTable
    from retarget_opencl.hostprog.rules import HOST_RULES

    names = {id(rule): f"clc/{number}/{rule.ops[0]}" for number, rule in enumerate(RULES.rules)}
    dropped = os.environ.get("RULE_DROPPED", "")
    for name, rules in RULES._by_name.items():
        rules[:] = [rule for rule in rules if names[id(rule)] != dropped]
    HOST_RULES.pop(dropped.removeprefix("host/"), None)
    find = RuleTable.find

    def recorded(table, op):
        rule = find(table, op)
        _USED.add(names.get(id(rule)))
        return rule

    RuleTable.find = recorded
    for name, rule in HOST_RULES.items():
        HOST_RULES[name] = lambda *a, name=name, rule=rule: (_USED.add(f"host/{name}"), rule(*a))[1]


def _compile(self, request):
    global _prepare
    if _prepare:
        _prepare()
        _prepare = None
    _USED.clear()
    try:
        return _COMPILE(self, request)
    finally:
        if _LOG:
            line = {"module": str(request.source_path), "rules": sorted(filter(None, _USED))}
            with open(_LOG, "a") as file:
                file.write(json.dumps(line) + "\\n")


compiler.OpenClCompiler.compile = _compile


@hookimpl
def retarget_drivers():
    return ()
'''


def every_rule() -> list[str]:
    """Return the names of all rules."""
    kernels = [f"clc/{number}/{rule.ops[0]}" for number, rule in enumerate(RULES.rules)]
    return [*kernels, *(f"host/{name}" for name in HOST_RULES)]


class Experiment:
    """The folder of an experiment. Everything runs with it as the current folder."""

    def __init__(self, folder: Path, suites: Sequence[str], source: Path) -> None:
        self.folder = folder.resolve()
        self.lines = self.folder / "rules.jsonl"
        self._used = self.folder / "used.jsonl"
        self._prepare(suites, source)
        os.chdir(self.folder)
        os.environ["RETARGET_CACHE_DIR"] = str(self.folder / "cache")
        os.environ["RETARGET_EXTENSIONS"] = "rule_dropper"
        sys.path.insert(0, str(self.folder))

    def _prepare(self, suites: Sequence[str], source: Path) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        folders = {name: source / name for name in suites} | {"rules": OWN}
        missing = [name for name in folders if not (self.folder / "suites" / name).is_dir()]
        for name in missing:
            shutil.copytree(folders[name], self.folder / "suites" / name)
            if name == OWN.name:
                (self.folder / "suites" / name / "suite.toml").write_text(OWN_SUITE, encoding="utf-8")
        if missing:
            (self.folder / "bringup" / "opencl.ladder").unlink(missing_ok=True)
        if (self.folder / "bringup").is_dir():
            return
        text = (source / "matrix.toml").read_text(encoding="utf-8")
        # A profile, so that no session asks the device.
        text = text.replace('"host:opencl://"', '"opencl-pocl"')
        (self.folder / "suites" / "matrix.toml").write_text(text, encoding="utf-8")
        (self.folder / "pytest.ini").write_text("[pytest]\n")
        (self.folder / "rule_dropper.py").write_text(EXTENSION, encoding="utf-8")
        (self.folder / "bringup").mkdir()
        (self.folder / "bringup" / "opencl.toml").write_text(SETTINGS)

    def base(self) -> dict[str, list[TargetRecord]]:
        """Run all, once, and write the ladder. Return for each rule the targets that match and use it."""
        if not (self.folder / "bringup" / "opencl.ladder").exists():
            self._used.unlink(missing_ok=True)
            shutil.rmtree(self.folder / "base", ignore_errors=True)
            os.environ["RULES_USED"] = str(self._used)
            with contextlib.redirect_stdout(sys.stderr):
                session("-q", "-m", "opencl and not conformance", "--retarget-results", "base", "suites")
            del os.environ["RULES_USED"]
            print(command("bringup", "opencl", "--results", "base", "--raise")[1], file=sys.stderr)
        rules_of = {one["module"]: one["rules"] for one in read_lines(self._used)}
        (results,) = Sessions.read([Path("base")])
        found = [one for one in results.records if one.driver == "opencl" and one.outcome == "passed"]
        found.sort(key=lambda one: one.compile.seconds if one.compile is not None else 0.0)
        users: dict[str, list[TargetRecord]] = {}
        for record in found:
            for rule in rules_of.get(str(self.folder / record.module_file), ()):
                users.setdefault(rule, []).append(record)
        return users

    def without(self, rule: str, targets: Sequence[TargetRecord]) -> dict[str, Any]:
        """Run targets without a rule, and return what the ladder says of it."""
        results = f"results/{rule.replace('/', '-')}"
        shutil.rmtree(results, ignore_errors=True)
        started = time.perf_counter()
        os.environ["RULE_DROPPED"] = rule
        with contextlib.redirect_stdout(io.StringIO()):
            session("-q", "--no-summary", "--retarget-results", results, *(one.nodeid for one in targets))
        ran = time.perf_counter()
        status, text = command("bringup", "opencl", "--check", "--results", "base", results)
        del os.environ["RULE_DROPPED"]
        after = {one.nodeid: one for one in Sessions.read([Path(results)])[0].records}
        fell = [one.nodeid for one in targets if after[one.nodeid].outcome != "passed"]
        named = [line.strip() for line in text.splitlines() if "→" in line]
        return {
            "rule": rule,
            "targets": [one.nodeid for one in targets],
            "fell": fell,
            "named": named,
            "not named": [one for one in fell if not any(one in line for line in named)],
            "says": [one.message for one in after.values() if one.message][:1],
            "status": status,
            "run_seconds": round(ran - started, 1),
            "check_seconds": round(time.perf_counter() - ran, 1),
        }


def session(*arguments: str) -> int:
    """Run pytest in this process, which has imported all that it needs."""
    return int(pytest.main(["-p", "no:cacheprovider", *arguments]))


def command(*arguments: str) -> tuple[int, str]:
    """Run the command `retarget` in this process."""
    written = io.StringIO()
    with contextlib.redirect_stdout(written), contextlib.redirect_stderr(written):
        status = retarget(arguments)
    return status, written.getvalue()


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file, but for one that is cut."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        with contextlib.suppress(ValueError):
            found.append(json.loads(line))
    return found


def kind_of(line: dict[str, Any]) -> str:
    """What became of a rule."""
    if not line["targets"]:
        return "used by no target here"
    if not line["fell"]:
        return "another rule takes its place: nothing fell"
    if line["not named"] or not line["status"]:
        return "NOT NAMED"
    return "named with targets and rungs"


def report(lines: Iterable[dict[str, Any]]) -> int:
    """Print what was found; return the exit status."""
    lines = list({line["rule"]: line for line in lines}.values())
    kinds: dict[str, list[str]] = {}
    rungs: Counter[str] = Counter()
    for line in lines:
        kinds.setdefault(kind_of(line), []).append(line["rule"])
        rungs.update(" ".join(one.split()[-3:]) for one in line["named"])
    print(f"{len(lines)} of {len(every_rule())} rules tried")
    for kind, rules in sorted(kinds.items()):
        shown = "" if kind.startswith("named") else ": " + ", ".join(rules)
        print(f"{len(rules):4}  {kind}{shown}")
    print("targets by what they fell to:", ", ".join(f"{count} {rung}" for rung, count in rungs.most_common()))
    return 1 if kinds.get("NOT NAMED") else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Try what has not been tried, and print what all tries found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path, help="a folder, which is created")
    parser.add_argument("--suites", nargs="+", default=SUITES, metavar="NAME", help="folders of the suites")
    parser.add_argument("--source", type=Path, default=ROOT / "suites", help="where they are (suites)")
    parser.add_argument("--rules", default="*", metavar="GLOB", help="only these rules, such as 'host/stream.*'")
    parser.add_argument("--targets", type=int, default=2, help="targets to run without a rule (2)")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no further rule after this long")
    options = parser.parse_args(arguments)
    end = time.monotonic() + 60 * options.minutes
    experiment = Experiment(options.work, options.suites, options.source.resolve())
    users = experiment.base()
    tried = {line["rule"] for line in read_lines(experiment.lines) if line["targets"] or line["rule"] not in users}
    for rule in every_rule():
        if rule in tried or not fnmatchcase(rule, options.rules) or time.monotonic() > end:
            continue
        targets = users.get(rule, [])[: options.targets]
        found = experiment.without(rule, targets) if targets else {"rule": rule, "targets": [], "fell": [], "named": []}
        with experiment.lines.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")
        print(f"{rule}: {kind_of(found)}", file=sys.stderr, flush=True)
    return report(read_lines(experiment.lines))


if __name__ == "__main__":
    sys.exit(main())
