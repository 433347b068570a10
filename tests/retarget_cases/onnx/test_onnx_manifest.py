"""The manifest of node tests: what is read, what is refused, and that the committed one is the installed package's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from retarget.support import DiagnosticsError
from retarget_cases.onnx.manifest import main
from retarget_cases.onnx.manifest_file import Manifest, read_manifest
from retarget_cases.onnx.stored import installed_manifest, installed_version

COMMITTED = Path(__file__).parents[3] / "suites" / "onnx" / "nodes.toml"

HEAD = 'format = 1\npackage = "onnx 1.23.2"\n\n[tests]\n'


def manifest(*entries: tuple[str, str], package: str = "onnx 1.23.2") -> Manifest:
    return Manifest(package=package, tests={name: tuple(tags.split()) for name, tags in entries})


AGAIN = "; write it again with `python3 -m retarget_cases.onnx.manifest -o nodes.toml`"
NO_WORD = "expected a word for -m: letters, digits and any of _ : + - . [ ] / \\"


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (
            'srcs = ["a"]\n',
            [
                f": format: found no such key, expected 1{AGAIN}",
                f': package: found no such key, expected "onnx VERSION"{AGAIN}',
                f": tests: found no such key, expected a table of tests{AGAIN}",
                ":1: srcs: found the unknown key 'srcs', expected one of format, package, tests",
            ],
        ),
        (HEAD.replace("1\n", "2\n", 1) + 'test_abs = "op-Abs"\n', [f":1: format: found 2, expected 1{AGAIN}"]),
        (HEAD, [f":4: tests: found {{}}, expected a table of tests{AGAIN}"]),
        (
            HEAD.replace("package", "packge") + 'test_abs = "op-Abs"\n',
            [
                f': package: found no such key, expected "onnx VERSION"{AGAIN}',
                ":2: packge: found the unknown key 'packge', expected one of format, package, tests; "
                "did you mean 'package'?",
            ],
        ),
        (HEAD + "test_abs = 3\n", [':5: tests.test_abs: found 3, expected tags like "op-Abs opset-13 f32"']),
        (HEAD + 'test_abs = ""\n', [":5: tests.test_abs: found '', expected tags like \"op-Abs opset-13 f32\""]),
        (
            HEAD + 'test_abs = "f32 op-Abs"\ntest_add = "op-Abs f,32"\n',
            [
                ":5: tests.test_abs: found 'f32 op-Abs', expected tags like \"op-Abs opset-13 f32\"",
                f":6: tests.test_add: found 'f,32', {NO_WORD}",
            ],
        ),
        (
            HEAD + '"../up" = "op-Abs"\n',
            [":5: tests.\"../up\": found '../up', expected the name of a test: letters, digits and _"],
        ),
        ("[tests\n", [":1: found a TOML syntax error in column 7: expected ']' at the end of a table declaration"]),
        ("[tests]\n\xff\n", [":2: found the byte 0xff, expected UTF-8 text"]),
    ],
)
def test_an_invalid_manifest_is_refused_with_each_error_and_its_line(cwd: Path, text: str, messages: list[str]) -> None:
    path = cwd / "nodes.toml"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(DiagnosticsError) as caught:
        read_manifest(path)
    assert str(caught.value).splitlines() == [f"nodes.toml{message}" for message in messages]


def test_a_program_is_no_manifest_and_nobody_is_asked_to_write_one_there(tmp_path: Path) -> None:
    with pytest.raises(DiagnosticsError) as caught:
        read_manifest(tmp_path / "model.mlir")
    assert str(caught.value) == (
        f"{tmp_path}/model.mlir: found no manifest of ONNX node tests, "
        "expected a TOML file as `python3 -m retarget_cases.onnx.manifest -o nodes.toml` writes it"
    )


def test_reading_a_manifest_imports_neither_onnx_nor_numpy() -> None:
    program = (
        "import sys; from pathlib import Path; "
        "from retarget_cases.onnx.extension import retarget_case_loaders as loaders; "
        f"print(len(loaders()[0].find_modules(Path('.'), [Path({str(COMMITTED)!r})]))); "
        "print(sorted({'onnx', 'numpy', 'ml_dtypes', 'iree'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1] == "[]"


@pytest.mark.slow
def test_the_committed_manifest_is_the_installed_packages() -> None:
    """What is skipped is another version; one of the same number must give the same."""
    if read_manifest(COMMITTED).package != installed_version():
        pytest.skip(
            f"the manifest was written by {read_manifest(COMMITTED).package}, installed is {installed_version()}"
        )
    assert read_manifest(COMMITTED) == installed_manifest()


@pytest.mark.usefixtures("node_tests")
def test_the_manifest_of_the_installed_package_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["-o", "nodes.toml"]) == 0
    installed = installed_manifest()
    assert capsys.readouterr().out == f"nodes.toml: {len(installed.tests)} tests of {installed_version()}\n"
    assert read_manifest(Path("nodes.toml")) == installed
