"""What flags and environment name in the file system counts by content, however the value is written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from retarget.session.cache.key import InputDigests, Inputs, candidates

pytestmark = pytest.mark.usefixtures("cwd")


def inputs(*flags: str, env: tuple[tuple[str, str], ...] = ()) -> Inputs:
    return InputDigests().of(flags, env=env)


def named(*flags: str, env: tuple[tuple[str, str], ...] = ()) -> list[str]:
    return [text for text, _ in inputs(*flags, env=env)]


@pytest.mark.parametrize(
    "flag",
    [
        "--spec={}",
        "-spec={}",
        "--object=f={}",
        "--import=a=b={}",
        "--files=other.mlir,{}",
        "--files={},other.mlir",
        "--path=other:{}",
        "--library={}@entry",
        "--flags=@{}",
        '--quoted="{}"',
        "--pipeline=builtin.module(link{{object={} other=1}})",
        "-I{}",
        "@{}",
        "{}",
        "--device=" + "x," * 40 + "{}",
    ],
)
def test_a_file_counts_wherever_it_stands_in_a_flag(cwd: Path, flag: str) -> None:
    file = cwd / "x.so"
    for name in ("x.so", str(file)):
        text = flag.format(name)
        assert named(text) == []
        file.write_text("one")
        assert named(text) == [name]
        first = inputs(text)
        os.utime(file, (1, 1))
        assert inputs(text) == first
        file.write_text("two")
        assert inputs(text) != first
        file.unlink()


def test_a_name_without_a_folder_is_a_program_wherever_on_path_it_is(
    cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{cwd}/first:{cwd}/second")
    (cwd / "tool").write_text("an input of the same name")
    seen = [InputDigests().of(["--run=sh tool"], files=[Path("tool")])]
    for folder, text in (("second", "1"), ("second", "2"), ("first", "3")):
        (cwd / folder).mkdir(exist_ok=True)
        (cwd / folder / "tool").write_text(text)
        (cwd / folder / "tool").chmod(0o755)
        seen.append(InputDigests().of(["--run=sh tool"], files=[Path("tool")]))
    assert len({*seen}) == len(seen)
    assert {dict(one)["tool"] for one in seen} == {dict(seen[0])["tool"]}


def test_a_large_tree_counts_by_sizes_and_times(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retarget.session.cache.key._LARGEST_TREE", 0)
    (cwd / "objects").mkdir()
    (cwd / "objects" / "x.o").write_text("one")
    first = inputs("--search=objects")
    os.utime(cwd / "objects" / "x.o", (1, 1))
    assert (second := inputs("--search=objects")) != first
    monkeypatch.setattr("retarget.session.cache.key._LARGEST_TREE", 1)
    by_content = inputs("--search=objects")
    os.utime(cwd / "objects" / "x.o", (2, 2))
    assert (inputs("--search=objects"), second == by_content) == (by_content, False)


def test_a_folder_without_end_is_refused(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retarget.session.cache.key._MOST_FILES", 1)
    for name in "ab":
        (cwd / name).write_text("")
    with pytest.raises(Exception, match=f"the folder {cwd}, which a compiler flag names, holds more than 1 files"):
        inputs("--root=.")
    assert named("--root=a,.") == ["a"]


def test_files_of_the_environment_count_and_its_folders_do_not(cwd: Path) -> None:
    (cwd / "lib").mkdir()
    (cwd / "lib" / "x.bc").write_text("one")
    assert named(env=(("LIBDEVICE", "lib/x.bc"), ("PYTHONPATH", f"{cwd}/lib:lib"))) == ["lib/x.bc"]


def test_what_never_ends_is_not_read(cwd: Path) -> None:
    os.mkfifo(cwd / "pipe")
    assert inputs("--in=pipe", "--out=/dev/zero") == (("/dev/zero", "special"), ("pipe", "special"))


def test_a_long_list_has_few_parts() -> None:
    features = ",".join(f"+feature{number}" for number in range(200))
    assert len(list(candidates(f"--features={features}"))) <= 3 * 200
    assert list(candidates("--a=b,c")) == ["b,c", "b", "c"]
    assert list(candidates("--long-name")) == []
    assert list(candidates(f"--x={chr(0)}{'long' * 5000}")) != []
    assert named(f"--x={chr(0)}y,{'long' * 5000}") == []
