"""What is wrong with one value."""

from __future__ import annotations

from retarget.support.errors import RetargetError

__all__ = ["InvalidValueError"]


class InvalidValueError(RetargetError):
    """What is wrong with a value. `str()` is the message; `index` leads to the entry of a literal that is to blame."""

    def __init__(self, message: str, index: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.index = index
