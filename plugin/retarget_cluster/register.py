"""How the scheduler's plugin gets to the scheduler: sent by value by whoever connects first."""

from __future__ import annotations

from typing import Any

from retarget.support.errors import RetargetError

from retarget_cluster import relay

__all__ = ["register"]


async def register(scheduler: Any, address: str) -> None:
    """See to it that a scheduler has the plugin. `scheduler` is what calls its handlers. Raises `RetargetError` where
    it has that of another version, `OSError` where it does not answer."""
    import cloudpickle

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
