"""For the tests of the cluster: the test doubles of the engine's tests are importable, here and in workers; tests may
be coroutines."""

from __future__ import annotations

import asyncio
import inspect
import sys
from pathlib import Path

import pytest

_DOUBLES = str(Path(__file__).parents[1] / "retarget")
if _DOUBLES not in sys.path:
    sys.path.append(_DOUBLES)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    asyncio.run(asyncio.wait_for(pyfuncitem.obj(**arguments), 30))
    return True
