"""What a command imports that is asked for little."""

from __future__ import annotations

import subprocess
import sys

import pytest

_HEAVY = ("retarget.results.export", "retarget.results.rule_update", "retarget.declare.load")


@pytest.mark.parametrize("words", [["bench", "--help"], ["results", "show", "--help"]])
def test_a_view_of_results_imports_nothing_that_writes_rules_or_other_formats(words: list[str]) -> None:
    program = f"import sys; from retarget.cli import main\nsys.argv[1:] = {words!r}\n"
    program += "try:\n    main()\nexcept SystemExit:\n    pass\n"
    program += f"print([name for name in {_HEAVY!r} if name in sys.modules])\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
