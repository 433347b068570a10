from __future__ import annotations

from page_targets import target
from retarget.results import Outcome
from retarget_report.read import Report
from retarget_report.views.matrix import data, numbered


def test_the_number_of_a_target_is_that_of_its_cell_among_those_of_all_suites() -> None:
    names = ["b_z_y", "b_z", "a_z", "a_x", "b_x"]
    report = Report(title="", sessions=(), targets=tuple(target(name, Outcome.PASSED) for name in names))
    suite = dict(data(report))["matrix"]["suites"][0]
    assert [column[:2] for column in suite["columns"]] == [["z", ""], ["z", "y"], ["x", ""]]
    assert suite["cells"] == "ppp" + "p p"
    assert [one.attempts[0].nodeid.rpartition("::")[2] for one in numbered(report)] == [
        "b_z",
        "b_z_y",
        "b_x",
        "a_z",
        "a_x",
    ]
