"""Reports of a CPU's features by the names of LLVM: of `iree-cpuinfo`, `clang -###` and `iree-compile`."""

from __future__ import annotations

import re
from pathlib import Path

from retarget_profiles.importers.report import Report

_LINE = re.compile(r"([a-z0-9][a-z0-9._-]*) +([01])\s*")
_CLANG = re.compile(r'"-(target-cpu|target-feature|triple)" "([^"]+)"')
_IREE = re.compile(r'"llvm-cpu", "[^"]*", \{cpu = "([^"]*)", cpu_features = "([^"]*)"')


def cpu_report(file: Path, text: str) -> Report | None:
    """Return the CPU that a report describes; None where the text is none of the three."""
    lines = [_LINE.fullmatch(line) for line in text.strip().splitlines() if line.strip()]
    if lines and all(lines):
        report = Report(file=file, tool="iree-cpuinfo", driver="local-task")
        for line in filter(None, lines):
            report.add(f"cpu.{line[1]}", line[2] == "1")
    elif '"-cc1"' in text and '"-target-cpu"' in text:
        # The first command of several compiles; others assemble or link.
        command = next(line for line in text.splitlines() if '"-target-cpu"' in line)
        report = Report(file=file, tool="clang -###", driver="local-task")
        for option in _CLANG.finditer(command):
            if option[1] == "target-feature":
                report.values[f"cpu.{option[2][1:]}"] = option[2][0] == "+"  # later ones win, as in LLVM
            else:
                report.add(f"cpu.{'name' if option[1] == 'target-cpu' else 'triple'}", option[2])
    elif target := _IREE.search(text):
        report = Report(file=file, tool="iree-compile --iree-llvmcpu-target-cpu=host", driver="local-task")
        report.add("cpu.name", target[1])
        for feature in filter(None, target[2].split(",")):
            report.values[f"cpu.{feature[1:]}"] = feature[0] == "+"
    else:
        return None
    report.add("device_type", "cpu")
    return report
