"""Whether a page can be written to a folder: pytest's plugin asks before a session, and imports nothing of the page."""

from __future__ import annotations

from pathlib import Path

from retarget.support import RetargetError, display_path

_MARK = b'<meta name="generator" content="retarget report">'


def expect_free(folder: Path, option: str) -> None:
    """Raise `RetargetError` for a folder with other files than a page, which `option` names, and `OSError` for one that
    cannot be read."""
    if folder.exists() and not (folder.is_dir() and _is_free(folder)):
        expected = "expected a new or empty folder, or a page of `retarget report`"
        msg = (
            f"{display_path(folder)}: found something that is no page, {expected}; choose another folder with {option}"
        )
        raise RetargetError(msg)


def _is_free(folder: Path) -> bool:
    """Return whether a folder is empty or has a page, also one of which the writer was killed before the index."""
    names = {path.name for path in folder.iterdir()}
    if "index.html" in names:
        return (folder / "index.html").is_file() and _MARK in (folder / "index.html").read_bytes()
    return not names or (names <= {"app", "data"} and (folder / "app" / "frame.js").is_file())
