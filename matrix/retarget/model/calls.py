"""The data between compilers and drivers and their callers: functions, checks, tolerances, and their errors.

A part of `retarget.extension`, whose names these are too. Imports nothing but the stages: a bundle that reproduces a
failure holds a copy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from retarget.model.outcomes import Stage

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


class CompilerError(Exception):
    """A compile failed. `diagnostics` is all that the compiler printed; the first line of `str()` is the summary.

    `verdict` declares that the compiler itself has judged the module and refuses it: with the same module, flags, files
    and build it always will. Only a verdict is stored, and only a verdict can be an expected failure. Without it the
    failure is trouble of tool or environment (a linker that is missing, a file that cannot be read), is reported, and
    the next session tries again. A failure `in_front_half` is one of all configs with an equal `Resolved.front_half`.
    """

    def __init__(
        self, summary: str, diagnostics: str = "", *, verdict: bool = False, in_front_half: bool = False
    ) -> None:
        super().__init__(summary)
        self.diagnostics = diagnostics
        self.verdict = verdict
        self.in_front_half = in_front_half


class UnavailableError(Exception):
    """A compiler or driver cannot be used on this machine. `str()` is the reason, `hint` what fixes it.

    It is `lost` where a device that a target needs was lost during the session: `str()` then says which, when, and
    after which target.
    """

    def __init__(self, reason: str, hint: str = "", *, lost: bool = False) -> None:
        super().__init__(reason)
        self.hint = hint
        self.lost = lost


class DriverError(Exception):
    """A driver failed to open, load or call. `str()` is the runtime's own message.

    `stage` is where it failed if that is not where it was raised: a tool loads the artifact again for each call.
    `signal` names the signal that ended a tool (`SIGSEGV`). After a `harmless` one the device is as it was, and serves
    the next target without being opened anew: a refused artifact, an assertion of the program. `no_verdict` is set
    where it says nothing of the program, which no rule excuses: what was to run it did not.
    """

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        stage: Stage | None = None,
        signal: str = "",
        harmless: bool = False,
        no_verdict: bool = False,
    ) -> None:
        super().__init__(message)
        self.hint, self.stage, self.signal = hint, stage, signal
        self.harmless, self.no_verdict = harmless, no_verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionInfo:
    """An exported function. `arguments` is the number of its arguments, None where the artifact does not say.

    `argument_types` and `result_types` are the types as declared (`tensor<2x?xf32>`, `i32`); empty where the artifact
    does not say.
    """

    name: str
    arguments: int | None
    argument_types: tuple[str, ...] = ()
    result_types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check that a module did while it ran. `kind` is `eq`, `almost_eq`, `true`, `false` or `all_true`.

    `expected` is None for the last three. `atol` and `rtol` are the module's own (almost_eq):
    `|actual - expected| <= atol + rtol * |expected|`.
    """

    kind: str
    actual: Array
    expected: Array | None = None
    atol: float = 0.0
    rtol: float = 0.0


CheckSink = Callable[[Check], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """How far a result may be from what was expected.

    An element holds when `|actual - expected| <= atol + rtol * |expected|`, or when it is at most `ulp` representable
    values away. `atol` is in the units of the values, `rtol` a ratio. All 0 requires equal values. `equal_nan` says
    whether a NaN holds for a NaN. `same_bits` asks for equal bits instead of all that: -0.0 is not 0.0 then.
    """

    atol: float = 0.0
    rtol: float = 0.0
    ulp: int | None = None
    equal_nan: bool = True
    same_bits: bool = False
