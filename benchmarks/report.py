"""`retarget report` of many targets against reading their results once as JSON lines: seconds and memory.

Both sides run in processes of their own. Seconds are those of the processor, which other work on the machine does not
change, and of the clock. The size of what the first view loads is printed as well, and what Chromium needs to show it:
the time of its main thread until the first cell is there, and per frame of fast scrolling.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from synthetic_results import write

READ = "import sys, json\nfor line in open(sys.argv[1], 'rb'): json.loads(line)"
FRAMES = 120
SCROLL = """async ([pixels, frames]) => {
    const grid = document.querySelector(".grid");
    for (let frame = 0; frame < frames; frame++) { grid.scrollTop += pixels; await new Promise(requestAnimationFrame); }
}"""


def measured(command: list[str]) -> tuple[float, float, float]:
    """Run a command; return seconds of the processor and of the clock, and its largest resident set in MiB."""
    pid = os.posix_spawn(command[0], command, os.environ)
    started = time.perf_counter()
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")  # noqa: EM102, TRY003
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - started, usage.ru_maxrss / 1024


def first_view(site: Path) -> int:
    """Return the bytes of all files that are read before the matrix is seen."""
    first = [site / "index.html", *(site / "app").rglob("*"), site / "data" / "matrix.js"]
    return sum(file.stat().st_size for file in first if file.is_file())


def in_browser(site: Path) -> None:
    """Print what the main thread of Chromium takes."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")

        def thread_seconds() -> float:
            found = session.send("Performance.getMetrics")["metrics"]
            return float(next(one["value"] for one in found if one["name"] == "ThreadTime"))

        page.goto((site / "index.html").as_uri())
        page.locator(".cell").first.wait_for()
        shown, spent = page.evaluate("performance.now()"), 1000 * thread_seconds()
        print(f"first cell after {shown:.0f} ms, {spent:.0f} ms of the main thread")
        for pixels in (100, 500):
            before = thread_seconds()
            page.evaluate(SCROLL, [pixels, FRAMES])
            spent = 1000 * (thread_seconds() - before) / FRAMES
            print(f"scrolling {pixels} pixels per frame: {spent:.1f} ms of the main thread per frame")
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--browser", action="store_true", help="show the page in Chromium as well")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = write(Path(folder) / "results", arguments.targets)
        site = Path(folder) / "site"
        sides = {
            "reading as JSON lines": [sys.executable, "-c", READ, str(results)],
            "retarget report": [sys.executable, "-m", "retarget.cli", "report", str(results), "-o", str(site)],
        }
        medians = []
        for name, command in sides.items():
            found = [measured(command) for _ in range(arguments.repeat)]
            processor, clock, memory = (statistics.median(column) for column in zip(*found, strict=True))
            medians.append(processor)
            print(f"{name:24} {processor:6.2f} s of the processor {clock:6.2f} s {memory:7.0f} MiB")
        size = results.stat().st_size / 2**20
        print(f"ratio {medians[1] / medians[0]:.2f} for {arguments.targets:,} targets in {size:.0f} MiB")
        print(f"first view: {first_view(site) / 1e6:.2f} MB in all")
        if arguments.browser:
            in_browser(site)


if __name__ == "__main__":
    main()
