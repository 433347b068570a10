"""Which file a reference to a profile means: a path, or the name of a profile that an installed package ships.

A package ships profiles through an entry point of the group `retarget.profiles`, whose value names a package of its
own with the files: those that end in `.toml`, in folders at will. A file's name without the suffix is the profile's.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from retarget.profiles.files import read_profile
from retarget.profiles.profile import Profile
from retarget.support.errors import DiagnosticsError, RetargetError, did_you_mean, display_path

__all__ = ["GROUP", "find_profile", "profile_file", "profile_label", "reference_error", "shipped_profiles"]

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


def profile_label(profile: Profile) -> str:
    """Return how messages name a profile: a shipped one by its name, another by its file."""
    if profile.file is None or profile.file == shipped_profiles().get(profile.name):
        return profile.name
    return display_path(profile.file)


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
