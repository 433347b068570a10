"""The comments on files in the calls of a BUILD file, which its evaluation drops: why a file is left out of a list.

A BUILD file has the syntax of Python. Its formatter writes one entry in a line where an entry has a comment.
"""

from __future__ import annotations

import ast
import re

__all__ = ["Comments"]

_ENTRY = re.compile(r'(?:\s*#\s*|[^"#]*)"(?P<file>[^"]+)"[^"#]*(?:#(?P<comment>.*))?')
"""A line with one file, or one that is commented out."""
_DIRECTIVE = re.compile(r"(?:keep sorted|do not sort|buildifier:.*|buildozer:.*)$", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
"""What TOML does not take in a comment."""


class Comments:
    """The comments of one file; none of a file that Python cannot parse."""

    def __init__(self, text: str) -> None:
        try:
            self._statements = ast.parse(text).body
        except (SyntaxError, ValueError):
            self._statements = []
        self._found: list[tuple[int, str, str]] = []
        above: list[str] = []
        for number, line in enumerate(text.split("\n"), 1):
            if entry := _ENTRY.fullmatch(line.rstrip("\r")):
                comment = _CONTROL.sub("", entry["comment"] or " ".join(above)).strip()
                self._found.append((number, entry["file"], comment))
                above = []
            elif line.lstrip().startswith("#"):
                words = line.strip(" \t\r#")
                above += [] if _DIRECTIVE.match(words) else [words]
            else:
                above = []

    def on(self, file: str, line: int) -> str:
        """Return the comment on a file that a call at a line reaches: in its arguments, or in a list that they name.

        A comment stands behind the file or above it, also where the file is commented out.
        """
        for statement in self._reached(line):
            for number, name, comment in self._found:
                if name == file and comment and statement.lineno <= number <= (statement.end_lineno or number):
                    return comment
        return ""

    def _reached(self, line: int) -> list[ast.stmt]:
        """Return the statement at a line and the assignments whose names it reads."""
        assigned = {
            target.id: one
            for one in self._statements
            if isinstance(one, ast.Assign)
            for target in one.targets
            if isinstance(target, ast.Name)
        }
        found = [one for one in self._statements if one.lineno <= line <= (one.end_lineno or one.lineno)][:1]
        for statement in found:
            for node in ast.walk(statement):
                one = assigned.get(node.id) if isinstance(node, ast.Name) else None
                if one is not None and one not in found:
                    found.append(one)
        return found
