r"""The language of `-m` for the command line and of `when`: grammar and meaning are those of pytest's own `-m`.

    expression   = [ disjunction ]                            an empty one selects everything, as an absent -m does
    disjunction  = conjunction { "or" conjunction }
    conjunction  = negation { "and" negation }
    negation     = "not" negation | "(" disjunction ")" | word [ "(" arguments ")" ]
    arguments    = argument { "," argument }
    argument     = name "=" value
    value        = string | integer | "True" | "False" | "None"
    word         = letters, digits, and _ : + - . [ ] / \
    name         = a Python identifier that is no keyword
    string       = '…' or "…", without escapes

A word alone is true of a target that has it as a tag, or a keyword mark of that name. With arguments it is true of a
target that has a keyword mark of that name whose arguments include these.

In `when` there is also `on(vendor='NVIDIA', version='>=580')`: it is true of a target where one of its devices has all
of these traits (`retarget.model.devices`). Nothing is selected by it, because what is selected depends on no device.

Which words select a target with `-m`.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NoReturn

from msgspec import Struct

from retarget.model import CompilerConfig, RuntimeConfig, Suite, Target, TargetConfig
from retarget.model.devices import TRAITS, has_traits, trait_error
from retarget.model.marks import SYSTEM_ALIASES
from retarget.model.names import TARGET_SORTS, is_tag
from retarget.support.errors import RetargetError

_COMPILE, _RUN = TARGET_SORTS
_NUMBER = re.compile(r"\d+")


def tag_sources(
    *,
    suite: Suite,
    compiler: CompilerConfig,
    backends: Sequence[str],
    targets: Iterable[TargetConfig],
    runtime: RuntimeConfig | None = None,
    driver: Sequence[str] = (),
    module: Sequence[str] = (),
    own: Sequence[str] = (),
) -> dict[str, str]:
    """Return the words of a target in order, each with its source. Without a `runtime` it is a compile target.

    `backends` are the words that the compiler derived from its config, `driver` those of the driver; `targets` are the
    target configs that the target is reached through, `module` the words that overrides add, `own` those of the module
    itself. Names come before what is declared or derived. Words that `-m` cannot take are left out, such as the name of
    a device with blanks in it.
    """
    words = [(suite.name, "the suite"), *((tag, f"tags of suite {suite.name}") for tag in suite.tags)]
    words.append((compiler.name, "the compiler config"))
    words += [(tag, f"derived by compiler {compiler.compiler}") for tag in backends]
    words += [(tag, f"tags of compiler config {compiler.name}") for tag in compiler.tags]
    words += _toolchain_words(compiler)
    for target in targets:
        words.append((target.name, "the target config"))
        words += [(tag, f"tags of target config {target.name}") for tag in target.tags]
    words += [(tag, "the module") for tag in own]
    words += [(tag, "an override of the suite") for tag in module]
    if runtime is not None:
        words += [(runtime.name, "the runtime config")]
        words += [(one, "the driver") for one in runtime.drivers]
        words += [(tag, f"derived by driver {runtime.driver}") for tag in driver]
        words += [(system, "host_os") for system in runtime.host_os]
        words += [(architecture, "host_arch") for architecture in runtime.host_arch]
        words += [(device, "the device") for device in runtime.devices if not _NUMBER.fullmatch(device)]
        words += [(tag, f"tags of runtime config {runtime.name}") for tag in runtime.tags]
        words += _toolchain_words(runtime)
        if runtime.host is not None:
            words.append((runtime.host.name, "the host"))
            words += [(tag, f"tags of host {runtime.host.name}") for tag in runtime.host.tags]
    sources = {_COMPILE if runtime is None else _RUN: "the sort of target"}
    for word, source in words:
        for one in (word, *(alias for alias, system in SYSTEM_ALIASES.items() if system == word)):
            if is_tag(one):
                sources.setdefault(one, source)
    return sources


def _toolchain_words(config: CompilerConfig | RuntimeConfig) -> list[tuple[str, str]]:
    toolchain = config.toolchain
    if toolchain is None:
        return []
    sort = "compiler" if isinstance(config, CompilerConfig) else "runtime"
    tags = [(tag, f"tags of toolchain {toolchain.name}") for tag in toolchain.tags]
    return [(toolchain.name, f"the toolchain of the {sort} config"), *tags]


Value = str | int | bool | None

_ON = "on"
_NOT_HERE = (
    "found on(…), expected words of targets: what is selected depends on no device; `when` of a rule and `requires` may"
)
_WORD = re.compile(r"[\w:+\-.\[\]\\/]+")
_CONSTANTS: dict[str, Value] = {"True": True, "False": False, "None": None}


_LONGEST = 100
"""Characters of an expression that are shown where it is nested too deeply."""


class ExpressionError(RetargetError):
    """An expression that does not follow the grammar. `diagnostic` begins with the column: `column 5: found …`."""

    def __init__(self, expression: str, column: int, message: str) -> None:
        self.diagnostic = f"column {column}: {message}"
        shown = expression if len(expression) <= _LONGEST else f"{expression[:_LONGEST]}…"
        super().__init__(f"-m {shown!r}: {self.diagnostic}")


class Term(Struct, frozen=True):
    """One word of an expression, with its arguments: its text, its 1-based column, and what it is true of.

    `negated` means that it is behind an odd number of `not`: it leaves targets out. `traits` are what it asks of a
    device; none where it is about targets.
    """

    text: str
    column: int
    selector: Callable[[Any], bool]
    negated: bool = False
    traits: frozenset[tuple[str, Value]] = frozenset()

    @property
    def word(self) -> str:
        """The text without arguments."""
        return self.text.partition("(")[0].rstrip()

    def choices(self, targets: Iterable[Target]) -> set[str]:
        """Return what might have been meant: the tags of targets, or their keyword marks where it has arguments."""
        if self.word == self.text:
            return {tag for target in targets for tag in target.tags}
        marks = {mark for target in targets for mark in target.marks}
        return {f"{name}({', '.join(f'{key}={value!r}' for key, value in fields)})" for name, fields in marks}


class _Token(Struct, frozen=True):
    """`sort` is `word`, `string`, `end`, or the token's own text; `column` is 1-based."""

    sort: str
    text: str
    column: int

    def __str__(self) -> str:
        return {"end": "the end of line"}.get(self.sort, repr(self.text))


class Selector:
    """What an expression selects of targets, and of all else that has `tags` and `marks`. `terms` are its words, with
    what each selects by itself, in order."""

    def __init__(self, expression: str, *, takes_devices: bool = False) -> None:
        """`takes_devices`: it may ask for devices. Raises `ExpressionError` with the column of the first error."""
        parser = _Parser(expression, takes_devices)
        try:
            self._selects = parser.expression()
        except RecursionError as error:
            msg = "found parentheses or `not` nested too deeply"
            raise ExpressionError(expression, 1, msg) from error
        self.terms = tuple(parser.terms)

    def __call__(self, target: Any) -> bool:
        """Return whether something is selected."""
        return self._selects(target)

    @staticmethod
    @lru_cache(maxsize=4096)
    def of_rule(when: str) -> Selector:
        """Return that of a `when`, which may ask for devices. Where those of a target are not known, what they may make
        true is true."""
        return Selector(when, takes_devices=True)


def names_devices(expression: str) -> bool:
    """Return whether a `when` asks for devices."""
    return _ON in expression and any(term.traits for term in Selector.of_rule(expression).terms)


def _tokens(expression: str) -> Iterator[_Token]:
    at = 0
    while at < len(expression):
        character = expression[at]
        if character in " \t":
            at += 1
            continue
        if character in "()=,":
            text, sort = character, character
        elif character in "'\"":
            end = expression.find(character, at + 1)
            if end < 0:
                raise ExpressionError(expression, at + 1, f"found no closing {character}, expected one")
            text, sort = expression[at : end + 1], "string"
            if "\\" in text:
                raise ExpressionError(
                    expression, at + text.index("\\") + 1, r"found '\' in a string, expected a string without escapes"
                )
        else:
            match = _WORD.match(expression, at)
            if match is None:
                raise ExpressionError(
                    expression, at + 1, f"found {character!r}, expected a word, 'and', 'or', 'not' or a parenthesis"
                )
            text = match.group()
            sort = text if text in {"and", "or", "not"} else "word"
        yield _Token(sort, text, at + 1)
        at += len(text)
    yield _Token("end", "", at + 1)


class _Parser:
    """One method per rule of the grammar. Without `takes_devices`, traits of a device are an error."""

    def __init__(self, text: str, takes_devices: bool) -> None:
        self.text = text
        self._takes_devices = takes_devices
        self._tokens = _tokens(text)
        self._token = next(self._tokens)
        self._negated = False
        self.terms: list[Term] = []

    def expression(self) -> Callable[[Any], bool]:
        if self._token.sort == "end":
            return lambda _: True
        selector = self._disjunction()
        self._take("end", expected="'and', 'or' or the end of line")
        return selector

    def _disjunction(self) -> Callable[[Any], bool]:
        options = [self._conjunction()]
        while self._accept("or"):
            options.append(self._conjunction())
        return options[0] if len(options) == 1 else lambda target: any(option(target) for option in options)

    def _conjunction(self) -> Callable[[Any], bool]:
        parts = [self._negation()]
        while self._accept("and"):
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else lambda target: all(part(target) for part in parts)

    def _negation(self) -> Callable[[Any], bool]:
        if self._accept("not"):
            self._negated = not self._negated
            inner = self._negation()
            self._negated = not self._negated
            return lambda target: not inner(target)
        if self._accept("("):
            inner = self._disjunction()
            self._take(")", expected="')'")
            return inner
        first = self._take("word", expected="a word, 'not' or '('")
        word, end = first.text, first.column + len(first.text)
        arguments: list[tuple[str, Value]] = []
        is_device = word == _ON and self._token.sort == "("
        if is_device and not self._takes_devices:
            raise ExpressionError(self.text, first.column, _NOT_HERE)
        if self._accept("("):
            arguments = self._arguments(are_traits=is_device)
            end = self._take(")", expected="',' or ')'").column + 1
        given = frozenset(arguments)
        selector = _OnSelector(given, self._negated) if is_device else _TermSelector(word, given)
        text = self.text[first.column - 1 : end - 1]
        self.terms.append(Term(text, first.column, selector, self._negated, given if is_device else frozenset()))
        return selector

    def _arguments(self, *, are_traits: bool) -> list[tuple[str, Value]]:
        arguments = [self._argument(is_trait=are_traits)]
        while self._accept(","):
            arguments.append(self._argument(is_trait=are_traits))
        return arguments

    def _argument(self, *, is_trait: bool) -> tuple[str, Value]:
        name = self._take("word", expected="the name of an argument")
        if not name.text.isidentifier() or keyword.iskeyword(name.text):
            self._fail_at(name, "the name of an argument")
        self._take("=", expected="'='")
        at, value = self._token.column, self._value()
        if is_trait and (problem := trait_error(name.text, value)) is not None:
            raise ExpressionError(self.text, at if name.text in TRAITS else name.column, problem)
        return name.text, value

    def _value(self) -> Value:
        expected = "a string in quotes, an integer, True, False or None"
        if self._token.sort == "string":
            return self._take("string", expected=expected).text[1:-1]
        token = self._take("word", expected=expected)
        if re.fullmatch(r"-?\d+", token.text):
            return int(token.text)
        if token.text not in _CONSTANTS:
            self._fail_at(token, expected)
        return _CONSTANTS[token.text]

    def _accept(self, sort: str) -> _Token | None:
        token = self._token
        if token.sort != sort:
            return None
        if sort != "end":
            self._token = next(self._tokens)
        return token

    def _take(self, sort: str, *, expected: str) -> _Token:
        token = self._accept(sort)
        if token is None:
            self._fail_at(self._token, expected)
        return token

    def _fail_at(self, token: _Token, expected: str) -> NoReturn:
        raise ExpressionError(self.text, token.column, f"found {token}, expected {expected}")


class _TermSelector(Struct, frozen=True):
    name: str
    arguments: frozenset[tuple[str, Value]]

    def __call__(self, target: Any) -> bool:
        is_tag = not self.arguments and self.name in target.tags
        return is_tag or any(name == self.name and self.arguments <= set(fields) for name, fields in target.marks)


class _OnSelector(Struct, frozen=True):
    """Whether a device of a target has traits. Where its devices are not known, it has what makes the whole true."""

    traits: frozenset[tuple[str, Value]]
    negated: bool

    def __call__(self, target: Target) -> bool:
        if target.devices is None:
            return not self.negated
        return any(has_traits(device, self.traits) for device in target.devices)
