"""Map a worker's refusal to a failure of the target, or to an exception."""

from __future__ import annotations

from retarget.extension import UnavailableError
from retarget.model.outcomes import DeviceInfo, Failure, Stage
from retarget.support.errors import RetargetError
from retarget.support.text import cut_stacks, error_line, first_line
from retarget.worker.messages import Devices, Refusal, Refused


def refusal_failure(
    refused: Refused, stage: Stage, *, worker: str, work: str, extension: str = "extension", place: str = ""
) -> Failure:
    """Return the failure of a target: `WORKER crashed: SIGFPE PLACE`, `WORK timed out after 3 s PLACE`.

    Raises `UnavailableError` where that is why there is no answer.
    """
    text, where = refused.text, f" {place}" if place else ""
    match refused.refusal:
        case Refusal.UNAVAILABLE:
            raise UnavailableError(refused.summary, refused.hint)
        case Refusal.CRASHED | Refusal.ENDED:
            is_crash = refused.refusal is Refusal.CRASHED
            summary = f"{worker} {refused.refusal}: {refused.cause}{where}"
            if not is_crash and not place and (detail := error_line(text)):
                summary += f": {detail}"
            signal = refused.cause if is_crash else ""
            return Failure(stage=stage, summary=summary, text=cut_stacks(text), signal=signal, no_verdict=not is_crash)
        case Refusal.TIMED_OUT:
            summary = f"{work} timed out after {refused.cause}{where}"
            return Failure(stage=stage, summary=summary, text=cut_stacks(text), timed_out=True)
        case Refusal.INTERNAL:
            summary = f"{extension} failed{where}: {refused.summary}"
            return Failure(stage=stage, summary=summary, text=text, hint=refused.hint, no_verdict=True)
    return Failure(stage=stage, summary=refused.summary, text=text, hint=refused.hint)


def refusal_error(refused: Refused, what: str) -> Exception:
    """Return the exception to raise: an `UnavailableError`, or a `RetargetError` that begins with `what`."""
    if refused.refusal is Refusal.UNAVAILABLE:
        return UnavailableError(refused.summary, refused.hint)
    if refused.refusal is Refusal.INPUT:
        return RetargetError(refused.summary)
    detail = f": {line}" if refused.worker_ended and (line := first_line(refused.text)) else ""
    hint = f"; {refused.hint}" if refused.hint else ""
    return RetargetError(f"{what}: {refused.summary}{detail}{hint}")


def device_infos(answer: Devices | Refused, driver: str, verb: str) -> tuple[DeviceInfo, ...]:
    """Return the devices that a driver was to open or to list; `verb` is one of these two.

    Raises `UnavailableError` and `RetargetError`.
    """
    if isinstance(answer, Devices):
        return answer.infos
    if answer.worker_ended:
        detail = first_line(answer.text)
        msg = f"{driver} crashed while it {verb}ed its devices: {answer.cause}{f': {detail}' if detail else ''}"
        raise RetargetError(msg)
    if answer.refusal is Refusal.TIMED_OUT:
        msg = f"{driver} had not {verb}ed its devices after {answer.cause}"
        raise RetargetError(msg)
    raise refusal_error(answer, f"{driver} cannot {verb} its devices")
