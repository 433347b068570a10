"""The examples in README and docs/ run as they are.

In a page, a fenced block with `file=NAME` in its info string is written to that file; a `console` block is run, command
after command (`$ …`), in the folder where the page's files lie. The exit status must be 0 unless the block says
`exit=N`, and each line shown below a command must occur in its output in that order; `…` matches anything. What
`$ export NAME=VALUE` sets holds for the rest of the page. With `copy=FOLDER` a folder of docs/ is copied there first.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "kernels/retarget_opencl/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
FENCE = re.compile(r"^```(?P<language>[\w-]+)(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    language: str
    info: dict[str, str]
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    argv: list[str]
    shown: list[str]
    status: int


def page_id(page: Path) -> str:
    return page.relative_to(ROOT).with_suffix("").as_posix().removeprefix("docs/")


def blocks(page: Path) -> list[Block]:
    found = []
    for match in FENCE.finditer(page.read_text(encoding="utf-8")):
        info = {key: value for key, _, value in (word.partition("=") for word in match["info"].split())}
        found.append(Block(language=match["language"], info=info, body=match["body"]))
    return found


def runnable(page: Path) -> list[Block]:
    return [
        block for block in blocks(page) if "file" in block.info or (block.language == "console" and "run" in block.info)
    ]


def commands(block: Block) -> list[Command]:
    found: list[Command] = []
    for line in block.body.splitlines():
        if line.startswith("$ "):
            status = int(block.info.get("exit", "0"))
            found.append(Command(argv=shlex.split(line[2:], comments=True), shown=[], status=status))
        elif found and line.strip() and line.strip() != "…":
            found[-1].shown.append(line.strip())
    return found


def pattern(shown: str) -> re.Pattern[str]:
    words = [r".*".join(re.escape(part) for part in word.split("…")) for word in shown.split()]
    return re.compile(r"\s+".join(words))


def run(command: Command, folder: Path, exported: dict[str, str]) -> None:
    if command.argv[0] == "export":
        exported.update(word.split("=", 1) for word in command.argv[1:])
        return
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "RETARGET_CACHE_DIR": str(folder.parent / "cache"),
        "NO_COLOR": "1",
        **exported,
    }
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        command.argv,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    output = COLOUR.sub("", done.stdout)
    assert done.returncode == command.status, f"{shlex.join(command.argv)} exited with {done.returncode}:\n{output}"
    position = 0
    for shown in command.shown:
        found = pattern(shown).search(output, position)
        assert found, f"{shlex.join(command.argv)} does not print, in this order,\n    {shown}\nbut:\n{output}"
        position = found.end()


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.slow, id=page_id(page))  # `make check` runs them all
        for page in PAGES
        if runnable(page)
    ],
)
def test_examples_of_the_page_run_as_shown(page: Path, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    exported: dict[str, str] = {}
    for block in runnable(page):
        if "copy" in block.info:
            shutil.copytree(ROOT / "docs" / block.info["copy"], folder, dirs_exist_ok=True)
        if "file" in block.info:
            target = folder / block.info["file"]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.body, encoding="utf-8")
            continue
        for command in commands(block):
            run(command, folder, exported)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub derives them."""
    headings = re.findall(r"(?m)^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_between_pages_lead_to_files_and_headings_that_exist(page: Path) -> None:
    missing = []
    for link in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text(encoding="utf-8")):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            missing.append(link)
    assert missing == []


def test_every_environment_variable_of_ours_is_on_its_page() -> None:
    sources = [path for folder in ("matrix", "plugin", "kernels") for path in (ROOT / folder).rglob("*.py")]
    used = {
        name for path in sources for name in re.findall(r"\bRETARGET_[A-Z_]*[A-Z]\b", path.read_text(encoding="utf-8"))
    }
    listed = set(
        re.findall(r"(?m)^\| `(RETARGET_[A-Z_]+)`", (ROOT / "docs" / "environment.md").read_text(encoding="utf-8"))
    )
    assert used == listed
