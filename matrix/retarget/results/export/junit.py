"""Results as a junit file, as pytest's `--junitxml` writes it (family xunit2), with the properties of each target."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from xml.etree.ElementTree import Element, SubElement, tostring

from retarget.results.export.properties import properties
from retarget.results.files import Attribution, SessionResults, faulty_sessions, results_of
from retarget.results.history import seconds_of
from retarget.results.overview import state_of
from retarget.results.record import INCOMPLETE, Outcome, Result, TargetRecord
from retarget.support.text import strip_colour

_INVALID = re.compile("[^\t\n\r\x20-\x7e\x80-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML 1.0 forbids, and DEL: https://www.w3.org/TR/xml/#charsets."""

_LONGEST = 500
"""Characters of a message in an attribute; the element has all of it."""


def junit(sessions: Sequence[SessionResults]) -> bytes:
    """Return the file: one testsuite, a testcase per target, and one with an error for each session that is not whole
    or failed for more than targets. Control characters are written as `#x1B`."""
    results = results_of(sessions)
    cases: list[bytes] = []
    kinds: Counter[str] = Counter()
    said = {(one.session, one.nodeid): one for session in sessions for one in session.attributions}
    for target, record in sorted(results.items()):
        case = _case(record, said.get((record.session, target)))
        kinds.update(child.tag for child in case)
        cases.append(tostring(case, encoding="utf-8"))
    for session in faulty_sessions(sessions):
        case = Element("testcase", classname="pytest", name=_text(session.start.leg or session.start.session))
        SubElement(case, "error", message=_text(f"session {session.start.session[:8]}: {session.fault}"))
        kinds["error"] += 1
        cases.append(tostring(case, encoding="utf-8"))
    starts = [session.start for session in sessions]
    start = min((one.started for one in starts), default=0.0)
    stop = max([start, *(one.end.ended for one in sessions if one.end), *(one.ended for one in results.values())])
    suite = Element(
        "testsuite",
        name="pytest",
        errors=str(kinds["error"]),
        failures=str(kinds["failure"]),
        skipped=str(kinds["skipped"]),
        tests=str(len(cases)),
        time=f"{stop - start:.3f}",
        timestamp=datetime.fromtimestamp(start, UTC).isoformat(),
        hostname=_text(", ".join(dict.fromkeys(one.host for one in starts if one.host))),
    )
    suite.text = "\n"
    head, tail = tostring(suite, encoding="utf-8").split(
        b"\n"
    )  # with many targets, a tree of all would fill the memory
    top = b'<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="pytest tests">'
    return b"\n".join([top, head, *cases, tail, b"</testsuites>", b""])


def _case(record: TargetRecord, said: Attribution | None) -> Element:
    path, *names = record.nodeid.split("::")
    *scopes, name = (path.replace("/", "."), *names)
    seconds = record.ended - record.started if record.ended > record.started else seconds_of(record)
    case = Element("testcase", classname=_text(".".join(scopes)), name=_text(name), time=f"{seconds:.3f}")
    found = [*properties(record), *([("retarget.attribution", said.sentence)] if said is not None else [])]
    if found:
        parent = SubElement(case, "properties")
        for key, value in found:
            SubElement(parent, "property", name=_text(key), value=_text(value))
    outcome, whole = record.outcome, strip_colour(record.text or record.message)
    whole += f"\n\n{said.section}" if said is not None else ""
    if outcome in {Outcome.FAILED, Outcome.XPASSED}:
        SubElement(case, "failure", message=_short(record.message or whole)).text = _text(whole)
    elif outcome is Outcome.ERROR:
        message = _short(f'failed on setup with "{record.message}"')
        SubElement(case, "error", message=message).text = _text(whole)
    elif outcome is Outcome.XFAILED or (outcome is Outcome.INTERMITTENT and record.result is Result.FAILED):
        SubElement(case, "skipped", type="pytest.xfail", message=_text(record.reason))
    elif outcome in {Outcome.SKIPPED, Outcome.BLOCKED, *INCOMPLETE}:
        reason = record.reason or str(state_of(record))
        where = f"{record.file}:{record.line + 1}: {reason}"
        SubElement(case, "skipped", type="pytest.skip", message=_text(reason)).text = _text(where)
    return case


def _short(message: str) -> str:
    message = strip_colour(message)
    return _text(message if len(message) <= _LONGEST else f"{message[:_LONGEST]}...")


def _text(text: str) -> str:
    return text if text.isprintable() else _INVALID.sub(lambda found: f"#x{ord(found[0]):02X}", text)
