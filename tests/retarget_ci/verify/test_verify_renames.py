"""Renaming any one runner, label, event, tag, suite or config in any one file makes `retarget ci verify` fail."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from ci_trees import emit, is_in_order, problems, write
from retarget_ci.emit.command import emitted_problems
from retarget_ci.files import read_ci
from retarget_ci.lock import lock_problems

TREE = {
    "ci.toml": """
paths = ["suites"]
labels = ["ubuntu-24.04", "self-hosted", "gpu-nvidia"]
emit = ["github", "gitlab"]

[[runner]]
name = "hosted"
labels = ["ubuntu-24.04"]
builds = true
drivers = ["local-sync", "local-task"]
capacity = 2

[[runner]]
name = "lab"
labels = ["self-hosted", "gpu-nvidia"]
drivers = ["cuda"]

[[event]]
name = "pr"
on = ["pull_request"]
select = "not slow or (fast and cpu)"
budget = "20 min"

[[event]]
name = "nightly"
schedule = ["0 3 * * *"]
select = "linalg or runtime(name='any-cuda') or onnx"
budget = "2 h"

[[waiver]]
select = "amd or all-hip"
reason = "nobody has such a machine"
until = 2027-01-31
""",
    "suites/matrix.toml": """
root = true

[[compiler_config]]
name = "llvm-cpu"
compiler = "iree"
flags = ["--iree-hal-target-device=local"]
tags = ["cpu"]

[[compiler_config]]
name = "llvm-cpu-tiled"
extends = "llvm-cpu"
flags = ["--iree-opt-data-tiling"]
tags = ["tiled"]

[[compiler_config]]
name = "ptx"
compiler = "iree"
tags = ["gpu"]

[[compiler_config]]
name = "rocdl"
compiler = "iree"
tags = ["gpu", "amd"]

[[runtime_config]]
name = "host"
driver = "local-task"
tags = ["threads"]

[[runtime_config]]
name = "any-cuda"
driver = "cuda"

[[runtime_config]]
name = "any-hip"
driver = "hip"

[[target_config]]
name = "all-cpu"
compiler = ["llvm-cpu", "llvm-cpu-tiled"]
runtimes = ["host"]
tags = ["fast"]

[[target_config]]
name = "all-cuda"
compiler = "ptx"
runtimes = ["any-cuda"]

[[target_config]]
name = "all-hip"
compiler = "rocdl"
runtimes = ["any-hip"]

[[expectation]]
match = "dot"
when = "tiled and threads"
stage = "compare"
reason = "too much rounding"
""",
    "suites/linalg/suite.toml": """
[[module_test_suite]]
name = "linalg"
srcs = ["*.mlir"]
kind = "check"
targets = ["all-cpu", "all-cuda", "all-hip"]
tags = ["kernels"]

[[module_test_suite.module]]
match = "sum"
tags = ["slow"]
exclude_targets = ["llvm-cpu-tiled", "any-hip"]
reason = "takes hours"
""",
    "suites/onnx/suite.toml": """
[[module_test_suite]]
name = "onnx"
srcs = ["*.mlir"]
kind = "check"
targets = ["all-cpu"]

[[expectation]]
match = "conv"
when = "onnx and compile and llvm-cpu"
outcome = "skip"
reason = "not there yet"
""",
    **{f"suites/{name}.mlir": "" for name in ("linalg/add", "linalg/dot", "linalg/sum", "onnx/conv", "onnx/gemm")},
}

SORTS = {
    "runner": ("hosted", "lab"),
    "label": ("ubuntu-24.04", "self-hosted", "gpu-nvidia"),
    "event": ("pr", "nightly"),
    "tag": ("cpu", "tiled", "gpu", "amd", "threads", "fast", "kernels", "slow"),
    "suite": ("linalg", "onnx"),
    "compiler config": ("llvm-cpu", "llvm-cpu-tiled", "ptx", "rocdl"),
    "runtime config": ("host", "any-cuda", "any-hip"),
    "target config": ("all-cpu", "all-cuda", "all-hip"),
}

NAMES = [name for names in SORTS.values() for name in names]

FILES = [name for name in TREE if name.endswith(".toml")]
WRITTEN = [
    "ci.lock",
    ".github/workflows/retarget-pr.yml",
    ".github/workflows/retarget-nightly.yml",
    ".gitlab/retarget.yml",
]


@pytest.fixture
def tree(cwd: Path) -> Path:
    write(cwd, TREE)
    emit(cwd)
    return cwd


def renamed(text: str, name: str) -> Iterator[str]:
    """Yield the text with another name at each single place of a name, and at all of them."""
    found = [*re.finditer(rf"(?<![\w.+/-]){re.escape(name)}(?![\w.+/-])", text)]
    for match in found:
        yield f"{text[: match.start()]}renamed-{name}{text[match.end() :]}"
    if len(found) > 1:
        yield re.sub(rf"(?<![\w.+/-]){re.escape(name)}(?![\w.+/-])", f"renamed-{name}", text)


def test_the_tree_as_it_is_has_no_problem(tree: Path) -> None:
    assert problems(tree) == []


@pytest.mark.sampled(1)
@pytest.mark.parametrize("file", FILES)
def test_no_rename_of_anything_in_any_one_declaration_goes_unnoticed(tree: Path, file: str) -> None:
    before = (tree / file).read_text()
    renames = [(name, text) for name in NAMES for text in renamed(before, name)]
    assert renames, "a file in which nothing is named proves nothing"
    for name, text in renames:
        (tree / file).write_text(text)
        assert not is_in_order(tree), f"{name}:\n{text}"
    (tree / file).write_text(before)
    assert is_in_order(tree)


@pytest.mark.parametrize("file", WRITTEN)
def test_no_rename_of_anything_in_any_one_file_that_is_written_goes_unnoticed(tree: Path, file: str) -> None:
    """What is written is compared with what the declarations give: they are read once."""
    config = read_ci(tree / "ci.toml")
    expected = (tree / file).read_text()
    problems_of = partial(lock_problems, tree, expected) if file == "ci.lock" else partial(emitted_problems, config)
    renames = [(name, text) for name in NAMES for text in renamed(expected, name)]
    assert renames, "a file in which nothing is named proves nothing"
    for name, text in renames:
        (tree / file).write_text(text)
        assert [*problems_of()], f"{name}:\n{text}"
    (tree / file).write_text(expected)
    assert is_in_order(tree)


def test_each_name_is_in_a_file_that_people_write() -> None:
    assert [name for name in NAMES if not any([*renamed(TREE[file], name)] for file in FILES)] == []


@pytest.mark.parametrize(
    ("file", "before", "after", "said"),
    [
        (
            "ci.toml",
            'labels = ["self-hosted", "gpu-nvidia"]',
            'labels = ["self-hosted", "gpu-nvida"]',
            "ci.toml:15: runner[1].labels[1]: found 'gpu-nvida', expected one of the labels of this project "
            "(ubuntu-24.04, self-hosted, gpu-nvidia); did you mean 'gpu-nvidia'?",
        ),
        (
            "ci.toml",
            '"gpu-nvidia"]\nemit',
            '"gpu-nvidia", "gpu-amd"]\nemit',
            "ci.toml:3: labels[3]: found 'gpu-amd', which no runner has; expected a [[runner]] with it, or remove it",
        ),
        (
            "ci.toml",
            'drivers = ["cuda"]',
            'drivers = ["metal"]',
            "ci.toml:14: runner[1].name: found the runner 'lab', which no leg of any event uses: no target needs what "
            "it has, or the runners before it take them all; move or remove it",
        ),
        (
            "ci.toml",
            "not slow or",
            "not slwo or",
            "ci.toml:21: event[0].select: found 'slwo' in column 5, which no target has as a tag; did you mean 'slow'?",
        ),
        (
            "ci.toml",
            "runtime(name='any-cuda')",
            "runtime(name='any-cude')",
            "ci.toml:27: event[1].select: found \"runtime(name='any-cude')\" in column 11, which no target has as "
            "a tag; did you mean \"runtime(name='any-cuda')\"?",
        ),
        (
            "ci.toml",
            "not slow or (fast and cpu)",
            "slow and onnx",
            "ci.toml:21: event[0].select: found 'slow and onnx', which selects no target: this event runs nothing",
        ),
        (
            "ci.toml",
            "not slow or (fast and cpu)",
            "any-hip",
            "ci.toml:21: event[0].select: found 'any-hip', which selects only targets that no runner takes: "
            "this event runs nothing",
        ),
        (
            "ci.toml",
            '"amd or all-hip"',
            '"threads"',
            "ci.toml:31: waiver[0].select: found 'threads', which selects only targets that legs run; "
            "remove this waiver",
        ),
        (
            "ci.toml",
            '"amd or all-hip"',
            '"onnx and amd"',
            "ci.toml:31: waiver[0].select: found 'onnx and amd', which selects no target; remove this waiver",
        ),
        (
            "ci.toml",
            "2027-01-31",
            "2026-05-31",
            "ci.toml:33: waiver[0].until: found 2026-05-31, which is past; this waives nothing any more: give its "
            "targets a runner, or decide anew how long they may do without (nobody has such a machine)",
        ),
        (
            "suites/matrix.toml",
            'when = "tiled and threads"',
            'when = "tiled and thread"',
            "suites/matrix.toml:57: expectation[0].when: found the word 'thread', which no target has as a tag; "
            "did you mean 'threads'?",
        ),
        (
            "suites/linalg/suite.toml",
            '"any-hip"]',
            '"any-hip", "host"]',
            "ci.lock:6: found 'nightly hosted linalg llvm-cpu host 3 610596d42e92cca8', expected "
            "'nightly hosted linalg llvm-cpu host 2 34b78bf9f4426091'; `retarget ci emit` writes it",
        ),
    ],
)
def test_each_problem_has_its_place_and_the_nearest_name(
    tree: Path, file: str, before: str, after: str, said: str
) -> None:
    text = (tree / file).read_text()
    assert text.count(before) == 1
    (tree / file).write_text(text.replace(before, after))
    assert said in problems(tree)
