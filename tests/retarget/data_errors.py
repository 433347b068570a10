"""What is reported of data files that cannot be used."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from retarget.support.errors import RetargetError


def error_of(function: Callable[..., object], *arguments: object, **named: object) -> str:
    """Return the message that a call raises."""
    with pytest.raises(RetargetError) as caught:
        function(*arguments, **named)
    return str(caught.value)
