"""Archives that were made to do harm: each is refused with one line, at once, and nothing of it is left."""

from __future__ import annotations

import io
import json
import os
import struct
import tarfile
from pathlib import Path

import pytest
import zstandard
from retarget.cli import main
from retarget.support import RetargetError
from retarget_repro.bundle.archive import unpack

GOOD = {
    "format": 1,
    "target": "t",
    "toolchain": "iree",
    "observed": {"at": "compile", "stage": "compile", "signature": "s"},
    "reproduced": {"runs": 1, "same": 1},
    "compile": {"compiler": "iree", "source": "m.mlir", "flags": [], "timeout": 1.0},
}
UNREADABLE = "is no description of a bundle: "
ABSENT = "is no bundle: bundle.json cannot be read: No such file or directory"


def _tar(*entries: tuple[str, bytes]) -> bytes:
    stream = io.BytesIO()
    for name, content in entries:
        info = tarfile.TarInfo(name)
        info.size = len(content)
        stream.write(info.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % 512))
    return stream.getvalue() + bytes(1024)


def _header(**fields: tuple[int, bytes]) -> bytes:
    """Return an archive with one header in which bytes at these places are others, and whose sum is right."""
    raw = bytearray(tarfile.TarInfo("b/x").tobuf(tarfile.USTAR_FORMAT))
    for start, content in fields.values():
        raw[start : start + len(content)] = content
    raw[148:156] = b" " * 8
    raw[148:156] = b"%06o\0 " % sum(raw)
    return bytes(raw) + bytes(1024)


def _described(text: bytes) -> bytes:
    return zstandard.compress(_tar(("b/bundle.json", text)))


def _with(**fields: object) -> bytes:
    return _described(json.dumps(GOOD | fields).encode())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(_described(b"[" * 1_000_000), f"{UNREADABLE}maximum recursion depth", id="lists in lists"),
        pytest.param(_described(b'{"format":' * 100_000), f"{UNREADABLE}maximum recursion", id="tables in tables"),
        pytest.param(
            _described(b'{"format":1,"files":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001),
            f"{UNREADABLE}maximum recursion depth",
            id="files in files",
        ),
        pytest.param(_described(b'{"format":1,"target":"\xff"}'), f"{UNREADABLE}'utf-8' codec", id="no UTF-8"),
        pytest.param(
            _described(b'{"format":' + b"9" * 100_000 + b"}"), f"{UNREADABLE}Integer value", id="large number"
        ),
        pytest.param(_described(b"[]"), "found format None, expected 1", id="no table"),
        pytest.param(_with(format=True), f"{UNREADABLE}Expected `int`, got `bool`", id="true is no version"),
        pytest.param(_with(format=2), "found format 2, expected 1; another version of retarget", id="next version"),
        pytest.param(
            _with(format="\x1b[31m" + "x" * 100_000), f"found format '\\x1b[31m{'x' * 51}…, exp", id="long version"
        ),
        pytest.param(_with(hook="run me"), f"{UNREADABLE}Object contains unknown field `hook`", id="unknown field"),
        pytest.param(_with(**{"\x1b[2J": 1}), "contains unknown field ``", id="field that clears the screen"),
        pytest.param(_with(toolchain=""), f"{UNREADABLE}Invalid enum value ''", id="another toolchain"),
        pytest.param(
            _with(compile={**GOOD["compile"], "source": ""}),  # type: ignore[dict-item]
            "bundle.json names '', which is no file of the bundle",
            id="no name of a source",
        ),
        pytest.param(_with(), "bundle.json names 'm.mlir', which is no file of the bundle", id="no source"),
        pytest.param(
            _with(compile={**GOOD["compile"], "source": "../../etc/passwd"}),  # type: ignore[dict-item]
            "bundle.json names '../../etc/passwd', which is no file of the bundle",
            id="a source outside",
        ),
        pytest.param(_with(files={"../x": {"size": 1, "sha256": "0"}}), "../x is missing", id="a file outside"),
        pytest.param(
            _with(files={"\x1b]0;x": {"size": 1, "sha256": "0"}}), "bundle: 0;x is missing", id="a terminal's codes"
        ),
        pytest.param(zstandard.compress(_tar(("b/bundle.json/x", b""))), "Is a directory", id="a folder for a file"),
        pytest.param(
            zstandard.compress(_header(size=(124, b"\xff" * 12))), "it is too large at 'b/x'", id="size below 0"
        ),
        pytest.param(
            zstandard.compress(_header(size=(124, b"\x80" + b"\xff" * 11))), "it is too large at 'b/x'", id="huge size"
        ),
        pytest.param(zstandard.compress(_header(size=(124, b"zzzzzzzzzzz\0"))), "no header", id="a size of letters"),
        pytest.param(zstandard.compress(_header(time=(136, b"\x80" + b"\xff" * 11))), ABSENT, id="after all time"),
        pytest.param(zstandard.compress(_header(name=(0, b"b/\xff\xfe"))), "'utf-8' codec", id="a name of bytes"),
        pytest.param(zstandard.compress(_header(name=(0, b"b/x\0../y"))), ABSENT, id="a name behind NUL"),
        pytest.param(
            zstandard.compress(_header(prefix=(345, b"../../tmp"))), "may lead out of the folder", id="a prefix outside"
        ),
        *(
            pytest.param(
                zstandard.compress(_header(type=(156, sort))), f"found an entry of type {sort!r}", id=f"{sort!r}"
            )
            for sort in (b"L", b"K", b"S", b"g", b"7", b"V", b"D", b"M")
        ),
        pytest.param(b"\x50\x2a\x4d\x18" + struct.pack("<I", 0xFFFFFFF0), "it is truncated", id="4 GiB to skip"),
        pytest.param(b"\x28\xb5\x2f\xfd\x00\xff" + bytes(20), "too much memory", id="a window of terabytes"),
        pytest.param(b"\x28\xb5\x2f\xfd\x23" + b"\xff" * 4 + bytes(20), "Dictionary mismatch", id="a dictionary"),
        pytest.param(zstandard.compress(bytes(10_240)), "it holds no files", id="zeros"),
    ],
)
def test_a_hostile_archive_is_refused_and_nothing_is_left(content: bytes, said: str, tmp_path: Path) -> None:
    file = tmp_path / "x.tar.zst"
    file.write_bytes(content)

    with pytest.raises(RetargetError) as error:
        unpack(file, tmp_path / "new")

    message = str(error.value)
    assert message.startswith(f"{file} cannot be opened as a bundle: ")
    assert said in message
    assert len(message) < 500 + len(str(tmp_path)) * 2
    assert message.isprintable()
    assert [path.name for path in tmp_path.iterdir()] == ["x.tar.zst"]


def test_a_bomb_ends_where_a_bundle_may_be_no_larger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retarget_repro.bundle.archive.MOST_BYTES", 100_000)
    file = tmp_path / "x.tar.zst"
    file.write_bytes(zstandard.compress(_tar(*((f"b/{number}", bytes(9_000)) for number in range(100)))))
    assert file.stat().st_size < 2_000

    with pytest.raises(RetargetError, match="it is too large at 'b/11': expected at most 100000 bytes in all"):
        unpack(file, tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["x.tar.zst"]


def test_what_is_no_file_is_not_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(pipe := tmp_path / "pipe.tar.zst")
    assert main(["repro", "--open", str(pipe), "-o", str(tmp_path / "new")]) == 1
    assert capsys.readouterr().err == f"cannot open {pipe}: found a named pipe, expected a file\n"
    assert not (tmp_path / "new").exists()


def test_a_folder_that_is_a_link_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "new").symlink_to("elsewhere")
    source = b"func.func @f() { return }"
    files = {"m.mlir": {"size": len(source), "sha256": "0" * 64}}
    file = tmp_path / "x.tar.zst"
    file.write_bytes(
        zstandard.compress(_tar(("b/bundle.json", json.dumps(GOOD | {"files": files}).encode()), ("b/m.mlir", source)))
    )
    with pytest.raises(RetargetError, match=r"m\.mlir has not the digest that bundle.json has of it"):
        unpack(file, tmp_path / "new")
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert (tmp_path / "new").is_symlink()
