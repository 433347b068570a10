"""How the scheduler's plugin gets to the scheduler: sent by value by whoever connects first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from retarget.support import RetargetError

from retarget_cluster.security import dialled

_SECONDS = 10.0


class SilentError(RetargetError):
    """No scheduler answers."""


@asynccontextmanager
async def at_scheduler(address: str, security: Any) -> AsyncIterator[Any]:
    """Yield what calls the handlers of a scheduler that has the plugin; all of it may take 10 seconds at a time.

    Raises `SilentError` where nothing answers, also where something listens that is no scheduler; `RetargetError` where
    it has another certificate, or the plugin of another version.
    """
    from distributed.comm.core import FatalCommClosedError
    from distributed.core import rpc

    scheduler = rpc(dialled(address), timeout=_SECONDS, connection_args=security.get_connection_args("client"))
    try:
        await asyncio.wait_for(_register(scheduler, address), _SECONDS)
        async with asyncio.timeout(_SECONDS):
            yield scheduler
    except FatalCommClosedError as error:
        certificates = f"certificates do not fit: {error.__cause__ or error}"  # Dask wraps it
        is_ours = address.startswith("tcp://")
        why = "what listens there was started by another user or another program" if is_ours else certificates
        msg = f"{address}: {why}"
        raise RetargetError(msg) from error
    except OSError as error:  # TimeoutError is one
        msg = f"no scheduler answers at {address}; `retarget cluster start` starts one"
        raise SilentError(msg) from error
    finally:
        await scheduler.close_rpc()


async def expect_scheduler(address: str, security: Any) -> None:
    """See to it that a scheduler answers, and has the plugin. Raises as `at_scheduler` does."""
    async with at_scheduler(address, security):
        pass


async def _register(scheduler: Any, address: str) -> None:
    """See to it that a scheduler has the plugin. `scheduler` is what calls its handlers. Raises `RetargetError` where
    it has that of another version, `OSError` where it does not answer."""
    import cloudpickle

    from retarget_cluster import relay

    cloudpickle.register_pickle_by_value(relay)
    try:
        plugin = cloudpickle.dumps(relay.Relay())
    finally:
        cloudpickle.unregister_pickle_by_value(relay)
    await scheduler.register_scheduler_plugin(plugin=plugin, name=relay.Relay.name, idempotent=True)
    version = await scheduler.retarget_hello()
    if version != relay.VERSION:
        msg = (
            f"the scheduler at {address} works for another version of retarget (its plugin is {version}, not "
            f"{relay.VERSION}); start a new one, and update retarget where sessions and workers run"
        )
        raise RetargetError(msg)
