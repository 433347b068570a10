"""A loaded host program: functions whose instructions are closures over their registers' numbers, and globals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retarget_opencl.artifact.program import Program
from retarget_opencl.run.commands import Commands

if TYPE_CHECKING:
    from retarget_opencl.run.memory import Span
    from retarget_opencl.run.parameters import Parameters
    from retarget_opencl.run.uploads import HostData

__all__ = ["Code", "Jump", "Machine", "Registers", "Step"]

Registers = list[Any]
Step = Callable[[Registers], None]
Jump = Callable[[Registers], int]
"""Ends a block: returns the number of the next one, or -1 when the function's results are in the last register."""


@dataclass(slots=True)
class Code:
    """A function that can be run. `template` is its registers with their constants."""

    parameters: tuple[int, ...]
    template: Registers
    blocks: list[tuple[tuple[Step, ...], Jump]] = field(default_factory=list)

    def run(self, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Run the function. Raises `ProgramError` and what `Commands` raises."""
        registers = self.template.copy()
        for register, argument in zip(self.parameters, arguments, strict=True):
            registers[register] = argument
        blocks, number = self.blocks, 0
        while number >= 0:
            steps, jump = blocks[number]
            for step in steps:
                step(registers)
            number = jump(registers)
        results: tuple[Any, ...] = registers[-1]
        return results


@dataclass(slots=True)
class Machine:
    """A loaded program: its functions, its globals, and the device's commands."""

    program: Program
    commands: Commands
    globals: list[Any]
    codes: list[Code]
    blobs: Sequence[HostData]
    digest: str
    files: Sequence[tuple[str, Path]]
    _parameters: Parameters | None = None

    def constant(self, blob: int, offset: int, size: int) -> Span:
        """Return a range of constant bytes in device memory."""
        data = self.blobs[blob].part(offset, size)
        return self.commands.uploads.constant((self.digest, blob, offset, size), data)

    @property
    def parameters(self) -> Parameters:
        """The program's parameters, in the archives `files`. Raises `DriverError` for files that are none."""
        if self._parameters is None:
            from retarget_opencl.run.parameters import Parameters  # imports IREE's runtime

            self._parameters = Parameters(self.commands, self.files)
        return self._parameters

    def initialize(self) -> None:
        """Run the initialisers in order."""
        for number in self.program.initializers:
            self.codes[number].run(())
