"""What `--retarget-results` costs a warm run: the same run with it against without it.

N generated modules, compiled before for llvm-cpu, are run on local-sync and local-task: 3 N targets, nothing compiled.
Both sides run in processes of their own, in pairs, which side is first changing from pair to pair. The median of the
pairs' ratios is printed, of wall time and of CPU time (user and system, of all processes), whose noise is less on a
machine that does other things.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
from pathlib import Path

from timed_project import FLAGS, timed_pytest, write_matrix

from matrix import SUITE, Program


def measured(project: Path, *arguments: str) -> tuple[float, float]:
    """Return the wall and the CPU seconds of a run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    timed = timed_pytest(project, project.parent / "cache", *arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return timed.seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Run the pairs and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules", type=int, default=200)
    parser.add_argument("--pairs", type=int, default=11)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (project := folder / "project").mkdir()
        write_matrix(project, FLAGS, ["local-sync", "local-task"])
        (project / "suite.toml").write_text(SUITE)
        for index in range(options.modules):
            program = Program(index=index)
            (project / f"{program.name}.mlir").write_text(program.check_module())
        timed_pytest(project, folder / "cache")
        pairs = []
        for number in range(options.pairs):
            sides = [(), ("--retarget-results", str(folder / f"results-{number}"))]
            order = (0, 1) if number % 2 else (1, 0)
            found = {side: measured(project, *sides[side]) for side in order}
            pairs.append((found[0], found[1]))
        written = sum(path.stat().st_size for path in (folder / "results-0").iterdir())
    print(f"{3 * options.modules} targets, {written / 1024:.0f} KiB of results, {options.pairs} pairs")
    for which, word in ((0, "wall"), (1, "CPU")):
        without = statistics.median(pair[0][which] for pair in pairs)
        ratios = sorted(pair[1][which] / pair[0][which] for pair in pairs)
        print(
            f"{word:4} without {without:6.2f} s, with / without {statistics.median(ratios):.3f} "
            f"({ratios[0]:.3f} to {ratios[-1]:.3f})"
        )


if __name__ == "__main__":
    main()
