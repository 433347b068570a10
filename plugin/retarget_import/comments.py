"""The comments of a BUILD file, which its evaluation drops: found by line, for a call and for a word in its arguments.

A BUILD file has the syntax of Python, so that Python's parser and tokenizer know where its strings and comments are.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Sequence
from itertools import chain

__all__ = ["Comments"]

_DIRECTIVE = re.compile(r"(?:keep sorted|do not sort|buildifier:.*|buildozer:.*)$", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
"""What TOML does not take in a comment."""
_LICENSE = re.compile(r"Copyright|SPDX|Licensed under|LICENSE")
_ENTRY = re.compile(r'"(?P<word>[^"]+)",?')
"""An entry of a list that is commented out: the comment above it is its own."""
_OF_WORDS = ("srcs", "include", "exclude", "compiler_flags", "runner_args")
"""Arguments whose comments are about single files and flags."""


class Comments:
    """The comments of one file; none of a file that Python cannot parse."""

    def __init__(self, text: str) -> None:
        self._blocks: dict[int, str] = {}
        """All lines of a comment, for each of its lines."""
        self._trailing: dict[int, str] = {}
        self._entries: dict[int, str] = {}
        self._statements: Sequence[ast.stmt] = ()
        try:
            tree = ast.parse(text)
            tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
        except (SyntaxError, tokenize.TokenError, ValueError):
            return
        self._statements = tree.body
        own: dict[int, str] = {}
        for token in tokens:
            words = _CONTROL.sub("", token.string.lstrip("#")).strip()
            if token.type == tokenize.COMMENT and not _DIRECTIVE.match(words):
                is_own = not token.line[: token.start[1]].strip()
                if is_own and (entry := _ENTRY.fullmatch(words)):
                    self._entries[token.start[0]] = entry["word"]
                else:
                    (own if is_own else self._trailing)[token.start[0]] = words

        for last in (line for line in own if line + 1 not in own):
            first = next(line for line in range(last, 0, -1) if line - 1 not in own)
            lines = range(first, last + 1)
            self._blocks |= dict.fromkeys(lines, "\n".join(own[line] for line in lines))

    def of_file(self) -> list[str]:
        """Return the comments before the first statement, without those of a license."""
        first = self._statements[0].lineno if self._statements else 0
        found = dict.fromkeys(self._blocks.get(line, "") for line in range(1, first))
        return [comment for comment in found if comment and not _LICENSE.search(comment)]

    def above(self, line: int) -> str:
        """Return the comments right above a call and above its arguments, but for those with words of their own."""
        statement = self._statement(line)
        if statement is None:
            return self._above(line)
        arguments = (node for node in ast.walk(statement) if isinstance(node, ast.keyword))
        lines = [statement.lineno, *(node.lineno for node in arguments if node.arg not in _OF_WORDS)]
        return "\n".join(filter(None, map(self._above, dict.fromkeys(lines))))

    def on(self, word: str, line: int) -> str:
        """Return the comment on a string that a call at a line reaches: in its arguments, or in a list that they name.

        A comment stands behind the string or above it, also where the string is commented out. Without one, it is a
        comment in the call or the list, or above it, that names the word.
        """
        statements = self._reached(line)
        for at, entry in self._entries.items():
            is_reached = any(one.lineno <= at <= (one.end_lineno or at) for one in statements)
            if entry == word and is_reached and (comment := self._above(at)):
                return comment
        for node in chain.from_iterable(map(ast.walk, statements)):
            if isinstance(node, ast.Constant) and node.value == word:
                comment = self._trailing.get(node.end_lineno or node.lineno) or self._above(node.lineno)
                if comment:
                    return comment
        for statement in statements:
            for at in range(statement.lineno - 1, (statement.end_lineno or statement.lineno) + 1):
                if word in (comment := self._blocks.get(at, "")).split():
                    return comment
        return ""

    def _statement(self, line: int) -> ast.stmt | None:
        return next((one for one in self._statements if one.lineno <= line <= (one.end_lineno or one.lineno)), None)

    def _reached(self, line: int) -> list[ast.stmt]:
        """Return the statement at a line and the assignments whose names it reads."""
        assigned = {
            target.id: one
            for one in self._statements
            if isinstance(one, ast.Assign)
            for target in one.targets
            if isinstance(target, ast.Name)
        }
        first = self._statement(line)
        found = [] if first is None else [first]
        for statement in found:
            for node in ast.walk(statement):
                one = assigned.get(node.id) if isinstance(node, ast.Name) else None
                if one is not None and one not in found:
                    found.append(one)
        return found

    def _above(self, line: int) -> str:
        return self._blocks.get(line - 1, "")
