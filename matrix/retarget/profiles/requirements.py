"""The requirements of modules, suites and runtime configs of a device, as text.

`vulkan.shaderFloat64`, `cuda.computeCapability >= 8.0`, `memory >= 8 GiB`, `device_type = gpu`, `devices >= 2`,
`device.vendor = 'NVIDIA'`

    requirement = name [ operator value ] ;
    name        = word { "." word } ;                        as in retarget.profiles.files
    operator    = ">=" | "<=" | ">" | "<" | "=" | "!=" ;
    value       = number [ unit ] | version | "true" | "false" | word | text ;
    unit        = "B" | "KiB" | "MiB" | "GiB" | "TiB" ;
    text        = "'" glob "'" | '"' glob '"' ;               of device.vendor, …: retarget.model.devices

A name alone needs the capability to be there and to be neither false nor 0. Versions (`8.0`, `1.3.230`) compare part
by part. A capability with several values equals each of them, and is greater or less if all of them are.

A requirement with the prefix of another driver (`opencl.fp64` on a Vulkan device) asks nothing of a device: a suite
that runs on several drivers states what it needs of each. A prefix is a device's own if it is the driver's name or if
the device reports anything with it; what a device that
reports nothing has of `cpu`, which names no driver, is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum, auto
from functools import cache

from msgspec import Struct

from retarget.model.devices import DEVICE_TYPES, OPERATORS, TRAITS, DeviceTraits, has_traits, trait_error, version_parts
from retarget.model.outcomes import FeatureValue
from retarget.profiles.files import PREFIXES, Profile, name_error
from retarget.support.errors import RetargetError, did_you_mean

_UNITS = {unit: 1024**power for power, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB"))}
_DIGITS = 40
_TOKENS = re.compile(
    r"\s*(?:(?P<text>'[^']*'|\"[^\"]*\")|(?P<number>[0-9][0-9.]*)|(?P<word>[\w-]+(?:\.[\w-]+)*)|(?P<operator>[<>=!]+)|(?P<other>\S))"
)


class RequirementError(RetargetError):
    """A requirement that is not well-formed. `column` is 1-based."""

    def __init__(self, column: int, message: str) -> None:
        self.column = column
        super().__init__(f"column {column}: {message}")


class Needed(Struct, frozen=True, kw_only=True):
    """A requirement, parsed. `operator` is empty for a name alone. `value` of a quantity is in bytes, that of a version
    its text; `unit` is the one it was written with."""

    text: str
    name: str
    operator: str = ""
    value: bool | int | str = True
    unit: str = ""

    def answer(self, devices: Sequence[Profile]) -> Answer:
        """Return whether all of `devices` meet a requirement; none of them: it is not known what is there.

        Raises `RetargetError` where a device's value cannot be compared with the requirement's.
        """
        if not devices:
            return Answer(status=RequirementStatus.UNKNOWN, reason="nothing is known of the device")
        if self.name == "devices":
            met = _holds(self, len(devices))
            count = "is 1 device" if len(devices) == 1 else f"are {len(devices)} devices"
            return Answer(status=RequirementStatus.MET if met else RequirementStatus.UNMET, reason=f"there {count}")
        answers = [one for device in devices if (one := _of_device(self, device)) is not None]
        silent = next((device.name for device in devices if not device.capabilities), None)
        if not answers and silent is not None and self.name.startswith("cpu."):
            return Answer(status=RequirementStatus.UNKNOWN, reason=f"{silent} does not report {self.name}")
        if not answers:
            drivers = " and ".join(dict.fromkeys(device.driver for device in devices))
            return Answer(status=RequirementStatus.MET, reason=f"it asks nothing of {drivers}")
        order = (RequirementStatus.UNMET, RequirementStatus.UNKNOWN, RequirementStatus.MET)
        return min(answers, key=lambda one: order.index(one.status))


class RequirementStatus(StrEnum):
    """The result of checking devices for a requirement. UNKNOWN: they do not say whether they have what it needs."""

    MET = auto()
    UNMET = auto()
    UNKNOWN = auto()


class Answer(Struct, frozen=True, kw_only=True):
    """Whether devices meet a requirement, and what they have: `llvmpipe has memory = 3 GiB`."""

    status: RequirementStatus
    reason: str

    @property
    def is_unmet(self) -> bool:
        """Whether they lack it."""
        return self.status is RequirementStatus.UNMET

    @property
    def is_unknown(self) -> bool:
        """Whether they do not say."""
        return self.status is RequirementStatus.UNKNOWN


# ---------------------------------------------------------------- reading


class _Scanner(Struct):
    """The tokens of a requirement that are still to be read, as (sort, text, column)."""

    tokens: list[tuple[str, str, int]]
    end: int

    def take(self, expected: str, *sorts: str) -> tuple[str, str, int]:
        """Return the next token. Raises `RequirementError` if it is of another sort, or if there is none."""
        if not self.tokens:
            raise RequirementError(self.end, f"found the end, expected {expected}")
        sort, text, column = self.tokens[0]
        if sort not in sorts:
            raise RequirementError(column, f"found {text!r}, expected {expected}")
        return self.tokens.pop(0)


@cache
def parse_requirement(text: str) -> Needed:
    """Return a requirement. Raises `RequirementError`."""
    tokens = []
    for match in _TOKENS.finditer(text):
        sort = match.lastgroup or "other"
        tokens.append((sort, match[sort], match.start(sort) + 1))
    scanner = _Scanner(tokens, len(text) + 1)
    return _requirement(scanner, text)


def requirement_error(text: str) -> str | None:
    """Return what is wrong with a requirement, with its text; None if nothing is."""
    try:
        parse_requirement(text)
    except RequirementError as error:
        return f"{text!r}: {error}"
    return None


def prefix_error(text: str, drivers: Iterable[str]) -> str | None:
    """Return what is wrong with the prefix of a well-formed requirement, given all drivers; None if nothing is."""
    if requirement_error(text) is not None:
        return None
    name, known = parse_requirement(text).name, sorted({"device", *PREFIXES, *drivers})
    prefix, dot, _ = name.partition(".")
    if not dot or prefix in known:
        return None
    hint = did_you_mean(name, [f"device.{trait}" for trait in TRAITS]) or did_you_mean(prefix, known)
    return f"found the prefix {prefix!r}, which no driver here has; expected one of {', '.join(known)}{hint}"


def _requirement(scanner: _Scanner, text: str) -> Needed:
    name = _name(scanner)
    if not scanner.tokens:
        return Needed(text=text, name=name)
    sign, column = _operator(scanner)
    value, unit = _value(scanner, name, sign)
    if name.startswith("device.") and sign not in {"=", "!="} and name != "device.version":
        raise RequirementError(column, f"found {sign!r} after {name}, expected = or !=")
    if scanner.tokens:
        _, found, at = scanner.tokens[0]
        raise RequirementError(at, f"found {found!r}, expected the end; each requirement is an entry of its own")
    if (isinstance(value, bool) or name == "device_type") and sign not in {"=", "!="}:
        raise RequirementError(column, f"found {sign!r} before {str(value).lower()}, expected = or !=")
    return Needed(text=text, name=name, operator=sign, value=value, unit=unit)


def _name(scanner: _Scanner) -> str:
    _, name, column = scanner.take("the name of a capability, such as memory or vulkan.shaderFloat64", "word")
    if name == "not":
        raise RequirementError(column, "found 'not', expected a name; write NAME = false")
    if message := name_error(name):
        raise RequirementError(column, message)
    return name


def _operator(scanner: _Scanner) -> tuple[str, int]:
    expected = f"one of {', '.join(OPERATORS)}, or the end"
    _, sign, column = scanner.take(expected, "operator")
    if sign not in OPERATORS:
        hint = {"==": "=", "=>": ">=", "=<": "<=", "<>": "!="}.get(sign, "")
        raise RequirementError(
            column, f"found {sign!r}, expected {expected}{f'; did you mean {hint!r}?' if hint else ''}"
        )
    return sign, column


def _value(scanner: _Scanner, name: str, sign: str) -> tuple[bool | int | str, str]:
    prefix, _, trait = name.partition(".")
    if prefix == "device":
        _, text, column = scanner.take("a text in quotes, such as a glob", "text", "word", "number")
        wanted, comparison = text.strip("'\""), "" if sign in {"=", "!="} else sign
        if (message := trait_error(trait, f"{comparison}{wanted}")) is not None:
            raise RequirementError(column, message)
        return wanted, ""
    sort, text, column = scanner.take("a value: a number, a version or a word", "number", "word")
    if name == "device_type" and text not in DEVICE_TYPES:
        expected = f"expected one of {', '.join(DEVICE_TYPES)}{did_you_mean(text, DEVICE_TYPES)}"
        raise RequirementError(column, f"found {text!r}, {expected}")
    if name in {"memory", "devices"} and sort == "word":
        expected = "a number of bytes, such as 8 GiB" if name == "memory" else "a number"
        raise RequirementError(column, f"found {text!r}, expected {expected}")
    if sort == "word":
        return {"true": True, "false": False}.get(text, text), ""
    if re.fullmatch(r"\d+(\.\d+)*", text) is None:
        raise RequirementError(column, f"found {text!r}, expected a number or a version, such as 8 or 8.0")
    if len(text) > _DIGITS:
        raise RequirementError(column, f"found a number of {len(text)} characters, expected at most {_DIGITS}")
    if scanner.tokens and scanner.tokens[0][0] == "word":
        return _quantity(scanner, text)
    if name in {"memory", "devices"} and not text.isdigit():
        expected = "a whole number of bytes, or a number with a unit, such as 1.5 GiB"
        raise RequirementError(column, f"found {text!r}, expected {expected if name == 'memory' else 'a whole number'}")
    return int(text) if text.isdigit() else text, ""


def _quantity(scanner: _Scanner, number: str) -> tuple[int, str]:
    _, unit, column = scanner.take("a unit", "word")
    if unit not in _UNITS:
        near = next((known for known in _UNITS if known.lower().replace("i", "") == unit.lower().replace("i", "")), "")
        hint = f"; did you mean {near!r}?" if near else ""
        raise RequirementError(column, f"found the unit {unit!r}, expected one of {', '.join(_UNITS)}{hint}")
    if number.count(".") > 1:
        raise RequirementError(column, f"found a unit after {number}, expected it after a number, such as 8 or 0.5")
    return int(float(number) * _UNITS[unit]), unit


# ---------------------------------------------------------------- asking devices


def _of_device(needed: Needed, device: Profile) -> Answer | None:
    """Return what one device answers; None where it is not asked."""
    prefix, _, trait = needed.name.partition(".")
    value = getattr(device.traits, trait) or None if prefix == "device" else device.get(needed.name)
    if value is not None:
        status = RequirementStatus.MET if _holds(needed, value) else RequirementStatus.UNMET
        return Answer(status=status, reason=f"{device.name} has {needed.name} = {value_text(value, needed.unit)}")
    if (
        trait
        and prefix not in {"device", device.driver}
        and not any(one.name.startswith(f"{prefix}.") for one in device.capabilities)
    ):
        return None
    return Answer(status=RequirementStatus.UNKNOWN, reason=f"{device.name} does not report {needed.name}")


def value_text(value: FeatureValue, unit: str = "") -> str:
    """Return a device's value for a person, a number in a unit of bytes."""
    if isinstance(value, tuple):
        return ", ".join(value_text(one, unit) for one in value)
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value / _UNITS[unit]:.4g} {unit}" if unit and isinstance(value, int | float) else str(value)


def _holds(needed: Needed, value: FeatureValue) -> bool:
    if not needed.operator:
        return bool(value)
    if needed.name.startswith("device."):
        comparison = "" if needed.operator in {"=", "!="} else needed.operator
        wanted = (needed.name.partition(".")[2], f"{comparison}{needed.value}")
        return has_traits(DeviceTraits(**{wanted[0]: str(value)}), [wanted]) is (needed.operator != "!=")
    if isinstance(value, tuple):
        held = [_compared(needed, one) for one in value]
        return any(held) if needed.operator == "=" else all(held)
    return _compared(needed, value)


def _compared(needed: Needed, value: bool | float | str) -> bool:
    """Compare as yes or no, as numbers, as versions or as texts, as the two values allow."""
    compare, wanted = OPERATORS[needed.operator], needed.value
    if isinstance(value, bool) or isinstance(wanted, bool):
        if isinstance(value, bool) and isinstance(wanted, bool):
            return compare(value, wanted)
    elif isinstance(value, str):
        if (parts := _version(value)) is not None and (other := _version(str(wanted))) is not None:
            return compare(parts, other)
        if needed.operator in {"=", "!="}:
            return compare(value, str(wanted))
    elif isinstance(wanted, int) or re.fullmatch(r"\d+\.\d+", wanted):
        return compare(value, float(wanted))
    shown = str(wanted).lower() if isinstance(wanted, bool) else wanted
    msg = f"{needed.text!r} cannot be asked: {needed.name} is {value_text(value)}, which does not compare with {shown}"
    raise RetargetError(msg)


def _version(text: str) -> tuple[int, ...] | None:
    return version_parts(text) if re.fullmatch(r"\d+(\.\d+)*", text) else None
