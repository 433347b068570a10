"""Files of other tools → one profile."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from retarget.profiles.profile import Capability, Profile
from retarget.support.errors import Diagnostic, DiagnosticsError, RetargetError, display_path
from retarget.support.files import read_regular

from retarget_profiles.importers.cpu import cpu_report
from retarget_profiles.importers.opencl import is_opencl, opencl_report
from retarget_profiles.importers.report import Report
from retarget_profiles.importers.vulkan import is_vulkan, vulkan_report

_EXPECTED = (
    "expected the output of vulkaninfo --json, clinfo --json, iree-cpuinfo, clang -### or "
    "iree-compile --iree-llvmcpu-target-cpu=host --compile-to=flow"
)


def import_profile(files: Sequence[Path], *, name: str, description: str = "", device: str = "") -> Profile:
    """Return the profile of the device that the files describe together.

    `device` chooses among several in a report: of clinfo by number or by a part of the name, of a file of Vulkan
    Profiles by the profile's name. Raises `RetargetError` for
    files that cannot be read, of no known tool, of several drivers, or that contradict each other.
    """
    reports = [_read(file, device) for file in files]
    errors = [error for report in reports for error in report.errors]
    merged: dict[str, tuple[Report, Capability]] = {}
    identity: dict[str, tuple[Report, str]] = {}
    first = reports[0]
    for report in reports:
        if report.driver != first.driver:
            message = (
                f"found a device of the driver {report.driver}, expected {first.driver} as in "
                f"{display_path(first.file)}; a profile is of one driver"
            )
            raise DiagnosticsError([Diagnostic(file=report.file, message=message)])
        for field, text in report.identity.items():
            other, found = identity.setdefault(field, (report, text))
            if found != text:
                errors.append(_contradiction(report, field, text, other, found))
        for capability, value in report.values.items():
            own = Capability(name=capability, value=value, source=report.source)
            other, kept = merged.setdefault(capability, (report, own))
            if kept.value != value:
                errors.append(_contradiction(report, capability, value, other, kept.value))
    if errors:
        raise DiagnosticsError(errors)
    return Profile(
        name=name,
        driver=first.driver,
        description=description,
        identity=tuple(sorted((field, text) for field, (_, text) in identity.items())),
        capabilities=tuple(capability for _, (_, capability) in sorted(merged.items())),
    )


def _contradiction(report: Report, name: str, value: object, other: Report, kept: object) -> Diagnostic:
    message = f"found {name} = {value!r}, and {display_path(other.file)} has {kept!r}; expected files of one device"
    return Diagnostic(file=report.file, message=message)


def _read(file: Path, device: str) -> Report:
    text = _text(file)
    line = column = 0
    message = f"found text of no known tool, {_EXPECTED}"
    if text.lstrip().startswith(("{", "[")):
        try:
            data = json.loads(text)
            json.dumps(data, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            message = "found an escape \\ud800 to \\udfff that is half a character, expected whole characters"
        except json.JSONDecodeError as error:
            line, column, message = error.lineno, error.colno, f"found damaged JSON: {error.msg}"
        except ValueError:  # Python's bound on the digits of an integer, which the decoder does not place
            message = f"found a number of more than {sys.get_int_max_str_digits():,} digits, {_EXPECTED}"
        except RecursionError:
            message = f"found JSON nested too deeply, {_EXPECTED}"
        else:
            if isinstance(data, dict) and is_vulkan(data):
                return _with_values(vulkan_report(file, data, device))
            if isinstance(data, dict) and is_opencl(data):
                return opencl_report(file, data, device)
            message = f"found JSON of no known tool, {_EXPECTED}"
    elif report := cpu_report(file, text):
        return report
    raise DiagnosticsError([Diagnostic(file=file, line=line, column=column, key_path="", message=message)])


def _with_values(report: Report) -> Report:
    if not report.values and not report.errors:
        report.error((), "found no features, properties or limits of a device, expected those of one")
    return report


def _text(file: Path) -> str:
    try:
        content = read_regular(file)
    except OSError as error:
        msg = f"{display_path(file)}: cannot be read: {error.strerror or error}"
        raise RetargetError(msg) from error
    # PowerShell's `>` writes UTF-16.
    encoding = "utf-16" if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        msg = f"{display_path(file)}: found the byte 0x{content[error.start]:02x}, {_EXPECTED}"
        raise RetargetError(msg) from error
