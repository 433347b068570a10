"""Archives of bundles: the same bytes each time, and nothing that strangers write leads out of the folder."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from retarget.support import RetargetError
from retarget_repro.bundle import archive
from retarget_repro.bundle.archive import pack, unpack
from retarget_repro.bundle.format import Bundle, CompileStep, Observed, Reproduced, read_bundle, write_json

_BUNDLE = Bundle(
    target="suite.toml::s::m_vmvx",
    toolchain="iree",
    observed=Observed(at="compile", stage="compile", signature="no such op"),
    reproduced=Reproduced(runs=1, same=1),
    compile=CompileStep(compiler="iree", source="m.mlir", flags=(), timeout=1.0),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    bundle = tmp_path / "made" / "m_vmvx"
    (bundle / "cases").mkdir(parents=True)
    (bundle / "m.mlir").write_text("func.func @f() { return }\n")
    (bundle / "repro.py").write_text("raise SystemExit('opening must not run this')\n")
    (bundle / "cases" / "0-input0.npy").write_bytes(os.urandom(300_000))
    write_json(_BUNDLE, bundle)
    return bundle


def _archive(path: Path, *entries: tarfile.TarInfo | tuple[str, bytes], end: bool = True) -> Path:
    """Write an archive with entries of any kind."""
    stream = io.BytesIO()
    for entry in entries:
        info, content = (entry, b"") if isinstance(entry, tarfile.TarInfo) else (tarfile.TarInfo(entry[0]), entry[1])
        info.size = info.size or len(content)
        stream.write(info.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % 512))
    path.write_bytes(zstandard.compress(stream.getvalue() + bytes(1024 if end else 0)))
    return path


def _typed(name: str, sort: bytes, linkname: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = sort, linkname
    return info


def test_a_bundle_comes_back_as_it_was_written_and_its_bytes_depend_on_nothing_else(
    folder: Path, tmp_path: Path
) -> None:
    pack(folder, tmp_path / "a.tar.zst")
    for path in folder.rglob("*"):
        os.utime(path, (1, 1))
    (folder / "m.mlir").chmod(0o600)
    bundle = pack(folder, tmp_path / "b.tar.zst")

    assert (tmp_path / "a.tar.zst").read_bytes() == (tmp_path / "b.tar.zst").read_bytes()
    assert unpack(tmp_path / "b.tar.zst", tmp_path / "open" / "here") == bundle
    files = {path.name: path.read_bytes() for path in (tmp_path / "open" / "here").rglob("*") if path.is_file()}
    assert files == {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert sorted(bundle.files) == ["cases/0-input0.npy", "m.mlir", "repro.py"]


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([("/etc/x", b"")], "found the name '/etc/x', which may lead out of the folder"),
        ([("b/../../x", b"")], "found the name 'b/../../x', which may lead out of the folder"),
        ([("b/./x", b"")], "found the name 'b/./x', which may lead out of the folder"),
        ([("b/c:x", b"")], "found the name 'b/c:x', which may lead out of the folder"),
        ([("b/c\\x", b"")], "found the name 'b/c\\\\x', which may lead out of the folder"),
        ([("b/x\n", b"")], "found the name 'b/x\\n', which not every file system takes"),
        ([("b/x.", b"")], "found the name 'b/x.', which not every file system takes"),
        ([("b/x", b""), ("c/x", b"")], "found 'c/x' beside the folder 'b'; expected one folder"),
        ([("x", b"")], "found 'x' beside the folder 'x'; expected one folder"),
        ([("b/x", b"1"), ("b/x", b"2")], "found 'b/x', whose name collides with an earlier one"),
        ([("b/x", b"1"), ("b/x/y", b"2")], "found 'b/x/y', whose name collides with an earlier one"),
        ([_typed("b/x", tarfile.SYMTYPE, "/etc/passwd")], "found a link, 'b/x'; expected regular files alone"),
        ([_typed("b/x", tarfile.LNKTYPE, "b/y")], "found a link, 'b/x'; expected regular files alone"),
        ([_typed("b/x", tarfile.CHRTYPE)], "found a device, 'b/x'; expected regular files alone"),
        ([_typed("b/x", tarfile.FIFOTYPE)], "found a named pipe, 'b/x'; expected regular files alone"),
        ([_typed("b", tarfile.DIRTYPE)], "found a folder, 'b'; expected regular files alone"),
        ([_typed("b/x", tarfile.XHDTYPE)], "found an entry of type b'x', 'b/x'; expected regular files alone"),
        ([], "it holds no files"),
        ([("b/x", b"")], "is no bundle: bundle.json cannot be read: No such file or directory"),
        ([("b/bundle.json", b"{}")], "bundle.json: found format None, expected 1; another version of retarget wrote"),
        ([("b/bundle.json", b"[1")], "bundle.json is no description of a bundle: Input data was truncated"),
        ([("b/bundle.json", b'{"format": 1}')], "bundle.json is no description of a bundle: Object missing required"),
    ],
)
def test_what_no_bundle_has_is_refused_and_nothing_is_left(
    entries: list[tarfile.TarInfo | tuple[str, bytes]], said: str, tmp_path: Path
) -> None:
    file = _archive(tmp_path / "x.tar.zst", *entries)

    with pytest.raises(RetargetError) as error:
        unpack(file, tmp_path / "new")

    assert str(error.value).startswith(f"{file} cannot be opened as a bundle: ")
    assert said in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["x.tar.zst"]


def _plain(content: bytes) -> bytes:
    return zstandard.ZstdDecompressor().stream_reader(content).read()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda content: content[: len(content) // 2], "it is truncated"),
        (lambda content: content[:-1], "it is truncated"),
        (lambda content: zstandard.compress(_plain(content)[:-1500]), "it is truncated"),
        (lambda content: zstandard.compress(_plain(content)[:-1]), "it is truncated"),
        (lambda content: content + b"more", "something follows its last file"),
        (lambda content: content + content, "something follows its last file"),
        (lambda content: zstandard.compress(_plain(content) + b"more"), "something follows its last file"),
        (lambda content: zstandard.compress(_plain(content)[:-512] + b"x" * 512), "something follows its last file"),
        (lambda _: b"PK\x03\x04 something else", "it is damaged, or no file of Zstandard: "),
        (lambda _: b"", "it is truncated"),
        (lambda _: zstandard.compress(b"no archive" * 100), "found no header of an archive's file after 0 files: "),
        (
            lambda content: zstandard.compress(_plain(content).replace(b"@f()", b"@g()")),
            "m.mlir has not the digest that bundle.json has of it",
        ),
    ],
)
def test_truncated_foreign_and_changed_files_say_what_is_wrong(
    change: Callable[[bytes], bytes], said: str, folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "x.tar.zst"
    pack(folder, file)
    file.write_bytes(change(file.read_bytes()))

    with pytest.raises(RetargetError) as error:
        unpack(file, tmp_path / "new")

    assert f"{file} cannot be opened as a bundle: {said}" in str(error.value)
    assert not (tmp_path / "new").exists()


def test_files_that_bundle_json_does_not_name_or_that_are_missing_are_refused(folder: Path, tmp_path: Path) -> None:
    named = pack(folder, tmp_path / "x.tar.zst")
    content = (folder / "bundle.json").read_bytes()
    mlir = (folder / "m.mlir").read_bytes()

    for entries, said in (
        ([("b/bundle.json", content), ("b/extra", b""), ("b/m.mlir", mlir)], "cases/0-input0.npy is missing"),
        ([("b/bundle.json", content), *((f"b/{name}", b"") for name in named.files), ("b/z", b"")], "z is not in"),
    ):
        with pytest.raises(RetargetError, match=said):
            unpack(_archive(tmp_path / "y.tar.zst", *entries), tmp_path / "new")


def test_sizes_are_bounded_by_what_is_declared_before_and_by_what_comes_while_unpacking(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack(folder, tmp_path / "x.tar.zst")
    monkeypatch.setattr(archive, "MOST_BYTES", 1500)

    with pytest.raises(RetargetError, match=r"it is too large at 'm_vmvx/cases/0-input0.npy': expected at most 1500"):
        unpack(tmp_path / "x.tar.zst", tmp_path / "new")
    with pytest.raises(RetargetError, match=r"the bundle has 4 files of \d+ bytes, expected at most 10000 and 1500"):
        pack(folder, tmp_path / "y.tar.zst")

    declared = tarfile.TarInfo("b/zeros")
    declared.size = 1 << 32
    with pytest.raises(RetargetError, match="it is too large at 'b/zeros'"):
        unpack(_archive(tmp_path / "z.tar.zst", declared), tmp_path / "new")
    monkeypatch.setattr(archive, "MOST_FILES", 2)
    with pytest.raises(RetargetError, match="it holds more than 2 files"):
        unpack(_archive(tmp_path / "z.tar.zst", *((f"b/{n}", b"") for n in range(3))), tmp_path / "new")


def test_a_folder_with_something_in_it_is_not_unpacked_to(folder: Path, tmp_path: Path) -> None:
    pack(folder, tmp_path / "x.tar.zst")

    with pytest.raises(RetargetError, match="m_vmvx exists; expected a new or an empty folder"):
        unpack(tmp_path / "x.tar.zst", folder)
    with pytest.raises(RetargetError, match=r"cannot open .*none.tar.zst: No such file or directory"):
        unpack(tmp_path / "none.tar.zst", tmp_path / "new")
    with pytest.raises(RetargetError, match=r"cannot unpack .*x.tar.zst to .*m.mlir/new: File exists"):
        unpack(tmp_path / "x.tar.zst", folder / "m.mlir" / "new")
    assert read_bundle(folder).files
