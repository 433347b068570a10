"""Why a library does not load: only what is there and broken is complained of."""

from __future__ import annotations

from pathlib import Path

from retarget_iree.runtime.apis import library_complaints


def test_a_library_that_is_not_there_is_no_complaint() -> None:
    assert library_complaints("libnowhere.so.1") == ()


def test_a_library_that_does_not_load_is_named_with_the_reason(tmp_path: Path) -> None:
    broken = tmp_path / "libx.so"
    broken.write_bytes(b"\x7fELF")
    assert library_complaints(str(broken)) == (f"{broken}: file too short",)
