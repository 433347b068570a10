"""The files of a tree that has links to folders."""

from __future__ import annotations

from pathlib import Path

from retarget.support.files import files_below


def test_linked_folders_are_entered_once_also_where_they_lead_back(tmp_path: Path) -> None:
    tree, other = tmp_path / "tree", tmp_path / "other"
    for name in ("tree/b/x", "tree/a", "other/y"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for number in range(3):  # each of them leads to all of them again
        (tree / f"loop{number}").symlink_to(tree)
        (tree / "b" / f"back{number}").symlink_to(tree)
    (tree / "linked").symlink_to(other)
    (tree / "twice").symlink_to(other)
    assert list(files_below(tree)) == ["a", "b/x", "linked/y"]
