"""A session whose device is lost: what is left of it is not run, which is neither a failure nor a success."""

from __future__ import annotations

import pytest
from acceptance_support import DOUBLES, Project, alone_and_xdist, matrix
from declaration_texts import compiler, runtime, target
from retarget.results import Outcome, Sessions, TargetRecord
from retarget.session import limits

LOST = matrix(
    compiler("dc", "double"),
    runtime("dr", "double-device"),
    runtime("other", "double-device"),
    target("doubles", "dc", ["dr", "other"]),
)


def records(project: Project) -> dict[str, TargetRecord]:
    (session,) = Sessions.read([project.path / "out"])
    return {record.target: record for record in session.latest.values()}


@pytest.mark.slow
@alone_and_xdist(1)
def test_what_a_lost_device_leaves_untried_is_not_run(
    project: Project, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("RETARGET_LEASE_DIR", str(project.path / "leases"))
    monkeypatch.setattr(limits, "COOL_DOWNS", limits.CoolDowns(first=600.0, longest=600.0, waits=0))
    project.doubles(a="f: pass", b="f: unplug", c="f: pass")
    project.write({"matrix.toml": LOST})
    result = project.run(*DOUBLES, "-rs", "--retarget-results", "out", *arguments)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    found = records(project)
    runs = {name: record for name, record in found.items() if record.runtime}
    assert {name: (record.outcome, record.rung) for name, record in runs.items()} == {
        "a_dc_dr": (Outcome.PASSED, "matches"),
        "a_dc_other": (Outcome.PASSED, "matches"),
        "b_dc_dr": (Outcome.FAILED, "dispatches"),
        "b_dc_other": (Outcome.NOT_RUN, ""),
        "c_dc_dr": (Outcome.NOT_RUN, ""),
        "c_dc_other": (Outcome.NOT_RUN, ""),
    }
    assert all(record.outcome is Outcome.PASSED for name, record in found.items() if name not in runs)
    lines = [line for line in result.outlines if line.startswith("not run: ")]
    assert len(lines) == 1
    assert lines[0].startswith("not run: double-device device Double 9000 was gone at ")
    assert ", after b_dc_dr: runtime config 'dr': driver 'double-device'" in lines[0]
    assert lines[0].endswith("(3 targets)")
    result.stdout.fnmatch_lines(["*1 failed, 5 passed, 3 not run in *"])
    assert "hint: double-device device Double 9000 was gone at " in found["b_dc_dr"].text
