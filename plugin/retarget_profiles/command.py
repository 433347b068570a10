"""`retarget profile`: list, show and import device profiles, and show the compilers' targets for them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from retarget.extension import CompilerError
from retarget.profiles import Profile
from retarget.session import Registry, load_extensions
from retarget.support import RetargetError

from retarget_profiles.importers import import_profile

_REFERENCE = "a profile file (.toml) or the name of a shipped profile"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget profile`."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", help="the profiles that installed packages ship")
    show = actions.add_parser("show", help="print profiles with where each value came from")
    show.add_argument("profiles", nargs="+", metavar="PROFILE", help=_REFERENCE)
    importing = actions.add_parser("import", help="write a profile from what other tools report of a device")
    importing.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="output of vulkaninfo --json, clinfo --json, iree-cpuinfo, clang -###",
    )
    importing.add_argument("-o", "--output", type=Path, metavar="PROFILE", help="the file to write (standard output)")
    importing.add_argument(
        "--device",
        default="",
        help="which of several in a report: number or part of a name (clinfo), name of a Vulkan profile",
    )
    importing.add_argument("--description", default="", help="one line for `retarget profile list`")
    target = actions.add_parser("target", help="print what each compiler makes of a profile")
    target.add_argument("profiles", nargs="+", metavar="PROFILE", help=_REFERENCE)
    target.add_argument("--compiler", default="", help="one compiler (all that make a target)")


def run(arguments: argparse.Namespace) -> int:
    """Run the action. Returns 0. Raises `RetargetError`."""
    if arguments.action == "list":
        sys.stdout.write(_listing())
    elif arguments.action == "show":
        sys.stdout.write("\n".join(Profile.find(reference).text() for reference in arguments.profiles))
    elif arguments.action == "target":
        registry = load_extensions(arguments.retarget_extension)
        for reference in arguments.profiles:
            sys.stdout.write(_targets(registry, Profile.find(reference), arguments.compiler))
    else:
        about = {"description": arguments.description, "device": arguments.device}
        import_profile(arguments.files, name="imported", **about).write(arguments.output)
    return 0


def _targets(registry: Registry, profile: Profile, wanted: str) -> str:
    """Return the flags and the parts of a target, by each compiler that makes one. Raises `RetargetError` for none."""
    names = [registry.compiler(wanted).name] if wanted else sorted(registry.compilers)
    lines: list[str] = []
    reasons: list[str] = []
    for name in names:
        compiler = registry.compilers[name]
        if not compiler.overrides("profile_target"):
            reasons.append(f"{name} does not compile for profiles")
            continue
        try:
            target = compiler.profile_target(profile)
        except CompilerError as error:
            reasons.append(str(error))
            continue
        lines += [f"{name}, for {profile.name}:", *(f"  {flag}" for flag in target.flags)]
        lines += [f"    {line}" for line in target.lines]
    if not lines:
        msg = f"no compiler makes a target of the profile {profile.name}: {'; '.join(reasons) or 'there is none'}"
        raise RetargetError(msg)
    return "\n".join([*lines, ""])


def _listing() -> str:
    profiles = Profile.shipped()
    width = max((len(profile.name) for profile in profiles), default=0)
    lines = [f"{one.name:<{width}}  {one.driver:<10}  {one.description}".rstrip() for one in profiles]
    return "\n".join([*lines, ""]) if lines else "no installed package ships profiles\n"
