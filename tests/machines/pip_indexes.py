"""pip's configuration as variables of uv, which does not read it: indexes, folders of wheels, certificates."""

from __future__ import annotations

import ast
import importlib.util
import os
import subprocess
import sys
from collections.abc import Mapping

__all__ = ["as_uv_variables", "uv_variables"]

# pip separates several values by spaces and line ends; uv those of UV_FIND_LINKS by commas.
_VARIABLES = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "no-index": ("UV_NO_INDEX", " "),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "cert": ("SSL_CERT_FILE", " "),
    "proxy": ("ALL_PROXY", " "),
    "default-timeout": ("UV_HTTP_TIMEOUT", " "),
    "timeout": ("UV_HTTP_TIMEOUT", " "),
}
_PRECEDENCE = ("global", "install", ":env:")


def as_uv_variables(listing: str) -> dict[str, str]:
    """Return uv's variables for what `pip config list` has printed: lines such as `global.index-url='https://…'`."""
    found: dict[str, tuple[int, str]] = {}
    for line in listing.splitlines():
        name, _, value = line.partition("=")
        section, _, option = name.rpartition(".")
        if section not in _PRECEDENCE or option not in _VARIABLES:
            continue
        variable, separator = _VARIABLES[option]
        given = (_PRECEDENCE.index(section), separator.join(str(ast.literal_eval(value)).split()))
        found[variable] = max(found.get(variable, given), given, key=lambda one: one[0])
    # pip takes the best version of all indexes, uv by default that of the first which has the package.
    return {"UV_INDEX_STRATEGY": "unsafe-best-match", **{name: value for name, (_, value) in found.items()}}


def uv_variables(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables by which uv installs from where pip does here; what is set for uv itself has priority.

    Where there is no pip, as in an environment that uv has made, uv needs none.
    """
    if importlib.util.find_spec("pip") is None:
        return {}
    listing = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True, env=environment
    ).stdout
    return {name: value for name, value in as_uv_variables(listing).items() if name not in environment}
