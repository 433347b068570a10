"""Device profiles, of devices and files: found by reference, read, and written so that equal profiles give equal bytes.

format = 1
driver = "vulkan"
description = "Mesa's Vulkan on the CPU"

[identity]
name = "llvmpipe"

[[capabilities]]                      # one for each source
source = "vulkaninfo --json"
memory = 8589934592                   # bytes
device_type = "cpu"

[capabilities.vulkan]
shaderFloat16 = true
maxComputeSharedMemorySize = 32768
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import groupby
from pathlib import Path

from msgspec import Struct

from retarget.model.devices import DeviceTraits, version_in
from retarget.model.outcomes import DeviceInfo, FeatureValue
from retarget.profiles.names import name_error, value_error
from retarget.support.errors import DiagnosticsError, RetargetError, did_you_mean, display_path
from retarget.support.files import user_path, write_files
from retarget.support.toml import KeyPath, Problem, diagnostics_of, format_key_path, read_toml, toml_string, toml_value

FORMAT = 1
"""Raised when a file of today would be read wrongly."""

_KEYS = ("format", "driver", "description", "identity", "capabilities")


def located_profile(file: Path, reference: str) -> str:
    """Return a reference to a profile that `file` writes: that to a profile file as an absolute path."""
    return str(file.parent / user_path(reference)) if reference.endswith(".toml") else reference


def read_profile(file: Path) -> Profile:
    """Read a profile. Raises `DiagnosticsError` with every error of the file."""
    text, data, unreadable = read_toml(file)
    if unreadable:
        raise DiagnosticsError(unreadable)
    problems: list[Problem] = []
    for key in data:
        if key not in _KEYS:
            expected = f"expected one of {', '.join(_KEYS)}{did_you_mean(key, _KEYS)}"
            problems.append(Problem((key,), f"found the unknown key {key!r}, {expected}"))
    if data.get("format") != FORMAT:
        problems.append(Problem(("format",), f"found {data.get('format')!r}, expected format = {FORMAT}"))
    driver = data.get("driver")
    if not isinstance(driver, str) or not driver:
        problems.append(Problem(("driver",), f"found {driver!r}, expected the name of a driver, such as vulkan"))
    description = data.get("description", "")
    if not isinstance(description, str):
        problems.append(Problem(("description",), f"found {description!r}, expected one line of text"))
    identity = data.get("identity", {})
    if not isinstance(identity, dict) or not all(isinstance(value, str) for value in identity.values()):
        problems.append(Problem(("identity",), "expected a table of texts, such as name and driver_version"))
        identity = {}
    capabilities = _capabilities(data.get("capabilities", []), problems)
    ordered = tuple(sorted(capabilities, key=lambda capability: capability.name))
    if problems:
        raise DiagnosticsError(diagnostics_of(file, text, problems))
    return Profile(
        name=file.stem,
        driver=str(driver),
        description=str(description),
        identity=tuple(sorted(identity.items())),
        capabilities=ordered,
        file=file,
    )


def profile_text(profile: Profile) -> str:
    """Return a profile as the text of a file, from which `read_profile` gives the same profile."""
    lines = [f"format = {FORMAT}", f"driver = {toml_string(profile.driver)}"]
    if profile.description:
        lines.append(f"description = {toml_string(profile.description)}")
    if profile.identity:
        lines += ["", "[identity]", *_pairs(dict(profile.identity))]
    by_source = sorted(profile.capabilities, key=lambda one: (one.source, "." in one.name, one.name))
    for source, group in groupby(by_source, lambda one: one.source):
        lines += ["", "[[capabilities]]", f"source = {toml_string(source)}"]
        for prefix, members in groupby(group, lambda one: one.name.rpartition(".")[0] and one.name.partition(".")[0]):
            if prefix:
                lines += ["", f"[capabilities.{format_key_path((prefix,))}]"]
            lines += _pairs({one.name.removeprefix(f"{prefix}."): one.value for one in members})
    return "\n".join(lines) + "\n"


def write_profile(profile: Profile, output: Path | None) -> None:
    """Write a profile to a file, or to standard output. Raises `RetargetError` for one that cannot be written."""
    text = profile_text(profile)
    if output is None:
        sys.stdout.write(text)
        return
    if output.suffix != ".toml":
        msg = f"found the file name {output.name!r} for a profile, expected one that ends in .toml"
        raise RetargetError(msg)
    write_files([(output, text)], force=True)
    sys.stdout.write(f"{display_path(output)}: {len(profile.capabilities)} capabilities, driver {profile.driver}\n")


def _pairs(values: Mapping[str, FeatureValue]) -> Iterable[str]:
    """Yield a line for each value, by key."""
    for key, value in sorted(values.items()):
        name = format_key_path((key,))
        yield f"{name} = {toml_value(value, before=len(name) + 3)}"


def _capabilities(groups: object, problems: list[Problem]) -> Iterable[Capability]:
    """Yield the capabilities of all groups, one for each source."""
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        problems.append(Problem(("capabilities",), "expected [[capabilities]] tables, each with its source"))
        return
    first: dict[str, str] = {}
    for index, group in enumerate(groups):
        path: KeyPath = ("capabilities", index)
        source = group.get("source")
        if not isinstance(source, str) or not source.strip():
            problems.append(Problem((*path, "source"), "found no source, expected where these values came from"))
            source = ""
        for keys, value in _values(group):
            name = ".".join(keys)
            if name == "source":
                continue
            if (frozen := _frozen(value)) is None:
                expected = "expected true or false, a number, a text, or a list of numbers or of texts"
                problems.append(Problem((*path, *keys), f"found {value!r}, {expected}"))
            elif message := name_error(name) or value_error(name, frozen):
                problems.append(Problem((*path, *keys), message))
            elif name in first:
                message = f"found {name} a second time, expected it once; it is from {first[name]!r} already"
                problems.append(Problem((*path, *keys), message))
            else:
                first[name] = source
                yield Capability(name=name, value=frozen, source=source)


def _values(group: dict[str, object]) -> Iterable[tuple[tuple[str, ...], object]]:
    """Yield all values of nested tables, in the order of the file; tables may be nested as deeply as TOML is read."""
    tables: list[tuple[tuple[str, ...], Iterator[tuple[str, object]]]] = [((), iter(group.items()))]
    while tables:
        keys, items = tables[-1]
        for key, value in items:
            if isinstance(value, dict):
                tables.append(((*keys, key), iter(value.items())))
                break
            yield (*keys, key), value
        else:
            tables.pop()


def _frozen(value: object) -> FeatureValue | None:
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list) and value:
        if all(isinstance(one, int) and not isinstance(one, bool) for one in value):
            return tuple(value)
        if all(isinstance(one, str) for one in value):
            return tuple(value)
    return None


GROUP = "retarget.profiles"


@cache
def shipped_profiles() -> Mapping[str, Path]:
    """Return the files of all profiles that installed packages ship, by name.

    Raises `RetargetError` for a package that is not there, and for two files of one name.
    """
    found: dict[str, Path] = {}
    for entry_point in sorted(importlib.metadata.entry_points(group=GROUP), key=lambda one: (one.name, one.value)):
        try:
            spec = importlib.util.find_spec(entry_point.value)
        except ModuleNotFoundError:
            spec = None
        if spec is None or not spec.submodule_search_locations:
            msg = f"entry point {entry_point.name!r} of {GROUP}: found {entry_point.value!r}, expected a package"
            raise RetargetError(msg)
        for folder in map(Path, spec.submodule_search_locations):
            for file in sorted(folder.rglob("*.toml")):
                if found.setdefault(file.stem, file) != file:
                    msg = f"two shipped profiles have the name {file.stem!r}: {found[file.stem]} and {file}"
                    raise RetargetError(msg)
    return dict(sorted(found.items()))


def profile_file(reference: str, *, others: Iterable[str] = ()) -> Path:
    """Return the file of a profile. `reference` is a path that ends in `.toml`, or the name of a shipped profile.

    `others` are words that the caller knows in addition, for what may have been meant.
    Raises `RetargetError` for a name that no package ships.
    """
    if reference.endswith(".toml"):
        return Path(reference)
    shipped = shipped_profiles()
    if reference not in shipped:
        nearest = did_you_mean(reference, [*shipped, *others])
        expected = "expected a file that ends in .toml or the name of a shipped profile (`retarget profile list`)"
        msg = f"found the device profile {reference!r}, {expected}{nearest}"
        raise RetargetError(msg)
    return shipped[reference]


def find_profile(reference: str, *, others: Iterable[str] = ()) -> Profile:
    """Read a profile by path or name; `others` is as for `profile_file`. Raises `RetargetError`: `DiagnosticsError` for
    what is wrong in its file."""
    return read_profile(profile_file(reference, others=others))


def reference_error(reference: str) -> str | None:
    """Return what is wrong with an entry of `target_from`; None if nothing is. No device is asked."""
    if reference == "host" or (reference.startswith("host:") and reference.partition("://")[1]):
        return None
    if reference.startswith("host:"):
        return f"found {reference!r}, expected host, or host: and the URI of a device, such as host:vulkan://0"
    try:
        find_profile(reference, others=["host"])
    except DiagnosticsError as error:
        return f"the device profile cannot be used: {error}"
    except RetargetError as error:
        return str(error)
    return None


class Capability(Struct, frozen=True, kw_only=True):
    """One thing that a device has. `name` is as Vulkan, OpenCL, CUDA or LLVM call it, with their prefix
    (`vulkan.shaderFloat16`, `opencl.fp64`, `cuda.computeCapability`, `cpu.avx512f`), or one that all devices have
    (`memory` in bytes, `device_type`). `source` says where the value came from."""

    name: str
    value: FeatureValue
    source: str


class Profile(Struct, frozen=True, kw_only=True):
    """A device's capabilities. `driver` is that of runtime configs (`vulkan`, `opencl`, `cuda`, `local-task`).

    `description` is one line. `identity` has (field, text) pairs: `name`, `vendor`, `driver` (its own name),
    `driver_version`. Both pairs and capabilities are sorted by name. `file` is None for a device of this host.
    """

    name: str
    driver: str
    description: str = ""
    identity: tuple[tuple[str, str], ...] = ()
    capabilities: tuple[Capability, ...] = ()
    file: Path | None = None

    @property
    def label(self) -> str:
        """How messages name it: a shipped one by its name, another by its file."""
        if self.file is None or self.file == shipped_profiles().get(self.name):
            return self.name
        return display_path(self.file)

    @property
    def traits(self) -> DeviceTraits:
        """The properties of the device itself for requirements (`device.vendor`)."""
        known = dict(self.identity)
        texts = {trait: known.get(trait, "") for trait in ("driver", "vendor", "name")}
        version, sort = version_in(known.get("driver_version", "")), str(self.get("device_type") or "")
        return DeviceTraits(version=version, type=sort, **texts)

    def get(self, name: str) -> FeatureValue | None:
        """Return the value of a capability; None where the profile does not say."""
        return next((one.value for one in self.capabilities if one.name == name), None)


def profile_of_device(info: DeviceInfo, source: str) -> Profile:
    """Return the profile of a device that its driver has reported. `source` is where its values came from."""
    identity = [("name", info.name), ("driver_version", info.driver_version or info.traits.version)]
    identity += [("vendor", info.vendor), ("driver", info.driver_name)]
    return Profile(
        name=info.name,
        driver=info.driver,
        identity=tuple(sorted((field, text) for field, text in identity if text)),
        capabilities=tuple(Capability(name=name, value=value, source=source) for name, value in sorted(info.features)),
    )
