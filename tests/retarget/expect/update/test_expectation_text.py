"""Rules are edited in place, however their file is laid out; comments stay where they were."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import hypothesis.strategies as st
import pytest
import tomli
from hypothesis import given, settings
from retarget.expect.update.text import RuleChange, rewrite
from retarget.model import Expectation, Origin

NEW = Expectation(match=("n",), stages=("run",), reason="r", origin=Origin(file=Path(), key_path=""))


def edited(listed: str, wanted: Sequence[str]) -> str:
    """A list after a rule was given these modules."""
    head, tail = "[[expectation]]\nmatch = ", "\nstage = 'run'\n"
    text = rewrite(f"{head}{listed}{tail}", [RuleChange(index=0, match=tuple(wanted), when="")], [])
    assert text.startswith(head)
    assert text.endswith(tail)
    return text.removeprefix(head).removesuffix(tail)


ANEW = {
    '["a", "b", "c"]': {"bc": '["b", "c"]', "ac": '["a", "c"]', "ab": '["a", "b"]'},
    '["a", "b",]': {"a": '["a"]'},
    "[ 'a', \"b\" ]": {"a": '["a"]'},
    '["a", "c"]': {"abc": '["a", "b", "c"]'},
    '["b", "c"]': {"abc": '["a", "b", "c"]'},
    '["c"]': {"ac": '["a", "c"]', "cd": '["c", "d"]'},
    '["c", "b"]': {"acb": '["c", "b", "a"]'},
    '["a"]': {"xy": '["x", "y"]'},
    '["a",\n  "b", "c"]': {"ac": '[\n    "a",\n    "c",\n]'},
    '[\n    "a",\n    "c",\n]': {"abc": '[\n    "a",\n    "b",\n    "c",\n]'},
    '[\n  "a",\n  "c"\n]': {"acd": '[\n    "a",\n    "c",\n    "d",\n]'},
    '[\'a"b\', "é, # no", "c"]': {("é, # no", "c"): '["é, # no", "c"]'},
}


@pytest.mark.parametrize(("listed", "results"), ANEW.items())
def test_a_list_without_comments_is_written_anew_in_its_order(
    listed: str, results: Mapping[Sequence[str], str]
) -> None:
    assert {wanted: edited(listed, tuple(wanted)) for wanted in results} == results


KEPT = {
    '["a", # x\n  "b"]': {"a": '[\n    "a",  # x\n]', "b": '[\n    "b",\n]'},
    '["a",\n  # those\n  "b"]': {"b": '[\n    # those\n    "b",\n]', "a": '[\n    "a",\n    # those\n]'},
    '[ # x\n  "a", "b"\n]': {"b0": '[  # x\n    "b",\n    "0",\n]'},
    '[\n  \'a\', "b", # b\n  "c",\n]': {"ac": "[\n    'a',\n    \"c\",\n]"},
    '[\n  "a" # x\n  , "b"\n]': {"ab0": '[\n    "a",  # x\n    "b",\n    "0",\n]'},
}


@pytest.mark.parametrize(("listed", "results"), KEPT.items())
def test_a_list_with_comments_keeps_those_of_what_stays(listed: str, results: Mapping[Sequence[str], str]) -> None:
    assert {wanted: edited(listed, tuple(wanted)) for wanted in results} == results


def test_a_line_of_a_string_is_no_comment_of_the_rule_below() -> None:
    first = "[[expectation]]\nmatch = 'a'\nreason = '''\n# not a comment''' # but this is\n"
    text = f"{first}# about b\n[[expectation]]\nmatch = 'b'\n"
    assert rewrite(text, [RuleChange(index=1, match=(), when="")], []) == first
    assert rewrite(text, [RuleChange(index=1, match=(), when="")], [(0, NEW)]).startswith(f"{first}\n[[expectation]]\n")


# ------------------------------------------------------------ whatever it looks like

WORDS = ("a", "b", "c/d", "e*", "é", "[ab]*", 'g"h')
SPACE = st.sampled_from(["", " ", "\t"])
QUOTED = {word: [f"'{word}'"] + [f'"{word}"'] * ('"' not in word) for word in WORDS}


class Layout:
    """Draws the text of a file; its comments are numbered, so that they can be distinguished."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self._comments = 0

    def maybe(self) -> bool:
        return self.draw(st.booleans())

    def space(self) -> str:
        return self.draw(SPACE)

    def comment(self) -> str:
        self._comments += 1
        return f"#c{self._comments};" + self.draw(st.sampled_from(["", " ]", " [[expectation]]", ' , "x"']))

    def lines(self, indent: str) -> str:
        return "".join(f"{indent}{self.comment()}\n" for _ in range(self.draw(st.integers(0, 2))))

    def rule(self) -> str:
        indent = self.draw(st.sampled_from(["", "  "]))
        reason = self.draw(st.sampled_from(["'r'", '"""\nx [[expectation]]\n# not a comment"""']))
        keys = [f"match{self.space()}={self.space()}{self.match(indent)}", f"reason = {reason}", "stage = 'run'"]
        keys += [f'"when" = {self.draw(st.sampled_from(["x", "x or y"]))!r}'] if self.maybe() else []
        header = self.draw(st.sampled_from(["[[expectation]]", "[[ expectation ]]", '[["expectation"]]']))
        lines = [header, *self.draw(st.permutations(keys))]
        printed = [f"{indent}{line}{self.space()}{self.comment() if self.maybe() else ''}\n" for line in lines]
        return self.lines(indent) + self.lines(indent).join(printed) + "\n" * self.draw(st.integers(0, 2))

    def match(self, indent: str) -> str:
        words = self.draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True))
        if len(words) == 1 and self.maybe():
            return self.draw(st.sampled_from(QUOTED[words[0]]))
        text = "[" + self.space()
        if self.maybe():
            text += (self.comment() if self.maybe() else "") + "\n" + self.lines("    ")
        for number, word in enumerate(words, 1):
            text += self.space() + self.draw(st.sampled_from(QUOTED[word])) + self.space()
            text += "," if number < len(words) or self.maybe() else ""
            if self.maybe():
                text += self.space() + (self.comment() if self.maybe() else "") + "\n" + self.lines("    ")
        return f"{text}{indent}]"


@st.composite
def files(draw: st.DrawFn) -> str:
    layout = Layout(draw)
    parts = [f"{layout.comment()}\n\n"] if layout.maybe() else []
    for _ in range(draw(st.integers(1, 3))):
        parts += [f'[[compiler_config]]\nname = "x" {layout.comment()}\n'] if layout.maybe() else []
        parts.append(layout.rule())
    text = "".join(parts)
    text = text if layout.maybe() else text.rstrip("\n")
    return text.replace("\n", "\r\n") if layout.maybe() else text


def comments(text: str) -> set[str]:
    return set(re.findall(r"#c\d+;", text))


def rules(text: str) -> list[dict[str, object]]:
    return [
        {**rule, "match": [rule["match"]] if isinstance(rule["match"], str) else rule["match"]}
        for rule in tomli.loads(text)["expectation"]
    ]


@settings(max_examples=200, deadline=None)
@given(data=st.data(), text=files())
@pytest.mark.slow
def test_an_edit_says_what_was_requested_and_leaves_all_else(data: st.DataObject, text: str) -> None:
    before = rules(text)
    index = data.draw(st.integers(0, len(before) - 1))
    rule = dict(before[index])
    now = rule["match"]
    assert isinstance(now, list)
    kept = data.draw(st.lists(st.sampled_from(now), unique=True))
    added = data.draw(st.lists(st.sampled_from(["aa", "f", 'z"z', "ü"]), unique=True, min_size=0 if kept else 1))
    when = data.draw(st.sampled_from(["", "x", "v or w"]))
    after = rewrite(text, [RuleChange(index=index, match=(*kept, *added), when=when)], [(index, NEW)])
    printed = rules(after)
    new = printed.pop(index + 1)
    assert new == {"match": ["n"], "stage": "run", "reason": "r"}
    changed = printed[index]
    assert sorted(changed.pop("match")) == sorted([*kept, *added])  # type: ignore[call-overload]
    assert changed.pop("when", "") == when
    assert {**rule, **changed, "match": now} == {**rule, "match": now}
    assert [one for at, one in enumerate(printed) if at != index] == [
        one for at, one in enumerate(before) if at != index
    ]
    beside = [line for line in text.splitlines() if re.search(r"[\"']", line)]
    assert comments(text) - comments(after) <= comments("\n".join(beside))  # gone with the entry beside them
    if "\r\n" in text:
        assert re.search(r"(?<!\r)\n", after) is None
