"""The directives of a source: which are meant for a compiler config, and which are misspelled.

FileCheck ignores what it does not know, so a misspelled directive checks nothing and reports nothing. Here it is an
error, where it can be distinguished from the directive of another compiler config: the names of all configs are known,
and a word that is no config's is an error where it is like that of one, or has a suffix of a directive. Directives are
looked for right after `//`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from retarget.support import nearest

COMMENTS = ("COM:", "RUN:")
"""The prefixes that make FileCheck ignore a line with a directive further on."""

SUFFIXES = ("DAG", "EMPTY", "LABEL", "NEXT", "NOT", "SAME")
"""What may follow a prefix, besides `COUNT-<number>`. See https://llvm.org/docs/CommandGuide/FileCheck.html."""

_PLAIN = "CHECK"
_RESERVED = {comment.rstrip(":") for comment in COMMENTS}
_WORD = re.compile(
    r"//+\s*(?P<word>[A-Za-z][\w.+-]*)(?P<braces>\{[^}\s]*\})?(?P<space>\s*)"
    rf"(?P<colon>(?:(?:{'|'.join(SUFFIXES)})?:)?)"
)
_COUNT = re.compile(r"COUNT-\d+")
_NEAR = 0.66
"""How alike a word and a suffix must be (difflib's ratio): NXT and NTO are, the names of backends are not."""

_NEAR_CONFIG = 0.75
"""How alike a word and a config's prefix must be: LLVM-CUP and LLVM-CPU are, CUP and CPU are not."""

_SHOWN = 8
"""Prefixes that are named where none is near."""

_REMARKS = {
    *("ATTENTION", "BUG", "BUGS", "CAUTION", "CAVEAT", "DEPRECATED", "DO", "ERROR", "EXAMPLE", "FIXME", "HACK", "HINT"),
    *("IDEA", "IMPORTANT", "INFO", "INPUT", "MUST", "NB", "NOTA", "NOTE", "NOTES", "OUTPUT", "PERF", "REASON", "REF"),
    *("REVIEW", "SAFETY", "SEE", "SHALL", "SHOULD", "TBD", "TEMP", "TEST", "TIP", "TODO", "WARN", "WARNING", "WIP"),
    "XXX",
}
"""The beginnings of comments that are not for FileCheck."""

_NEAR_CHECK = {"CHEK", "CHCK", "CECK", "HECK", "CHEC", "CHCEK", "CEHCK", "HCECK", "CHEKC", "CHECKS", "CHHECK"}


def prefixes(config: str) -> tuple[str, ...]:
    """Return the prefixes of the directives that a compiler config is checked with.

    `CHECK` holds for every config; `LLVM-CPU` and `CHECK-LLVM-CPU` for the config `llvm-cpu`. A name that FileCheck has
    for itself (`next`) is a prefix in one of these forms only.
    """
    name = config.upper()
    found = [_PLAIN]
    if name not in _RESERVED:
        found.append(name)
    if not _is_suffix(name):
        found.append(f"{_PLAIN}-{name}")
    return tuple(dict.fromkeys(found))


def directive_diagnostics(source: str, mine: Sequence[str], known: Sequence[str] = ()) -> Sequence[tuple[int, str]]:
    """Return the misspelled directives of a source, in its order: the line, 1-based, and what is wrong.

    `mine` are the prefixes in use, `known` those of all compiler configs that there are; without them no word is
    checked against the names of configs.
    """
    lines = enumerate(source.splitlines(), 1)
    return [(number, message) for number, line in lines for message in _line_diagnostics(line, mine, known)]


def other_prefixes(source: str, mine: Sequence[str]) -> tuple[str, ...]:
    """Return what else looks like prefixes in a source, each once and in order."""
    found: dict[str, None] = {}
    for line in source.splitlines():
        match = _WORD.search(line)
        if match is None or not match["colon"] or match["space"]:
            continue
        prefix = _without_suffix(match["word"])
        if prefix.isupper() and prefix not in mine and prefix not in _RESERVED:
            found[prefix] = None
    return tuple(found)


def _line_diagnostics(line: str, mine: Sequence[str], known: Sequence[str]) -> Iterator[str]:
    match = _WORD.search(line)
    if match is None or any(comment in line for comment in COMMENTS):
        return
    word, braces, colon = match["word"], match["braces"] or "", match["colon"]
    prefix, suffix = _split(word, mine)
    if _without_suffix(word) in known and _without_suffix(word) not in mine:
        return
    if not colon or match["space"]:
        # A word without a suffix may be prose: `// CHECK that ...`, `// VULKAN : ...`
        if prefix and (_is_suffix(suffix) or (colon and word == _PLAIN) or colon[1:]):
            yield f"{word} is no directive without a colon right after it; write {word}:"
        return
    if braces and prefix and braces != "{LITERAL}":
        yield f"{word}{braces}: is no directive; FileCheck has the modifier {{LITERAL}} only"
    elif not prefix and (run_on := _run_on(word, mine)):
        yield f"{word}: is no directive; did you mean {run_on}:?"
    elif not prefix and (head := re.split("[-_]", word)[0]) in _NEAR_CHECK:
        yield f"{word}: is no directive; did you mean {_PLAIN}{word[len(head) :]}:?"
    elif prefix and suffix and (word[len(prefix)] == "_" or not _is_suffix(suffix)):
        found = list(_suffix_diagnostics(word, prefix, suffix))
        yield from found or _config_diagnostics(word, known)
    elif not prefix:
        yield from _config_diagnostics(word, known)


def _suffix_diagnostics(word: str, prefix: str, suffix: str) -> Iterator[str]:
    """Yield the error in a suffix that FileCheck does not know; nothing where it may name a compiler config.

    `ROCM` of `CHECK-ROCM-LABEL` may be one, so what ends with a suffix is not taken for a slip of it.
    """
    if word[len(prefix)] == "_" and _is_suffix(suffix.upper()):
        yield f"{word}: is no directive; did you mean {prefix}-{suffix.upper()}:?"
        return
    parts = suffix.split("-")
    known = [part for part in parts if part in SUFFIXES or part == "COUNT" or part.isdigit()]
    if suffix.partition("-")[0] == "COUNT":
        yield f"{word}: is no directive; write how often, as in {prefix}-COUNT-2:"
    elif len(known) == len(parts) and len(parts) > 1:
        yield f"{word}: is no directive; a prefix takes one suffix only"
    elif not known and (near := nearest(suffix.upper(), SUFFIXES, cutoff=_NEAR)):
        yield f"{word}: is no directive; did you mean {prefix}-{near}:?"


def _config_diagnostics(word: str, known: Sequence[str]) -> Iterator[str]:
    """Yield the error for a word that resembles the directive of a compiler config and is that of none."""
    prefix = _without_suffix(word)
    suffix = word[len(prefix) :]
    if not known or prefix in known or prefix in _RESERVED or prefix.upper() in _REMARKS:
        return
    if prefix.upper() in known:
        if suffix:  # without one it may be prose: `// vulkan: ...`
            yield f"{word}: is no directive; did you mean {prefix.upper()}{suffix}:?"
        return
    head = f"{_PLAIN}-" if prefix.startswith(f"{_PLAIN}-") else ""
    names = [name for name in known if name != _PLAIN and not name.startswith(f"{_PLAIN}-")]
    if near := nearest(prefix.removeprefix(head), names, cutoff=_NEAR_CONFIG):
        yield f"{word}: is the directive of no compiler config; did you mean {head}{near}{suffix}:?"
    elif suffix and prefix.isupper():
        listed = ", ".join([_PLAIN, *names[:_SHOWN]]) + (f" and {len(names) - _SHOWN} more" if names[_SHOWN:] else "")
        yield f"{word}: is the directive of no compiler config; there is {listed}"


def _split(word: str, mine: Sequence[str]) -> tuple[str, str]:
    """Return the longest of the prefixes that a word starts with, and the rest after a `-` or `_`."""
    for prefix in sorted(mine, key=len, reverse=True):
        if word == prefix:
            return prefix, ""
        if word.startswith((f"{prefix}-", f"{prefix}_")):
            return prefix, word[len(prefix) + 1 :]
    return "", ""


def _run_on(word: str, mine: Sequence[str]) -> str:
    """Return the directive that a word is but for the `-` before its suffix (`CHECKNEXT`), or nothing."""
    for prefix in mine:
        if word.startswith(prefix) and _is_suffix(word[len(prefix) :]):
            return f"{prefix}-{word[len(prefix) :]}"
    return ""


def _without_suffix(word: str) -> str:
    prefix, _, suffix = word.rpartition("-")
    if suffix.isdigit() and prefix.endswith("-COUNT"):
        return prefix.removesuffix("-COUNT")
    return prefix if prefix and suffix in SUFFIXES else word


def _is_suffix(text: str) -> bool:
    return text in SUFFIXES or _COUNT.fullmatch(text) is not None
