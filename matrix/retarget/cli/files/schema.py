"""`retarget schema`."""

from __future__ import annotations

import argparse
import json
import sys

from retarget.extension.registry import load_extensions
from retarget.support.errors import did_you_mean

_DECLARATIONS = "declarations"
_RESULTS = "results"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget schema`."""
    parser.add_argument(
        "--for",
        dest="files",
        default=_DECLARATIONS,
        metavar="FILES",
        help=f"what is described: {_DECLARATIONS}, {_RESULTS} (a line of them), or the files of a kind, such as cases "
        f"({_DECLARATIONS})",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the schema. Returns 0. Raises `argparse.ArgumentError` for files that nothing describes."""
    from retarget.declare.schema.export import json_schema, schema_text

    if arguments.files == _DECLARATIONS:
        sys.stdout.write(json_schema())
        return 0
    loaders = load_extensions(arguments.retarget_extension).case_loaders
    schemas = {kind: schema for kind, one in loaders.items() if (schema := one.file_schema()) is not None}
    known = [_DECLARATIONS, _RESULTS, *schemas]
    if arguments.files not in known:
        hint = did_you_mean(arguments.files, known)
        msg = f"argument --for: found {arguments.files!r}, expected one of {', '.join(known)}{hint}"
        raise argparse.ArgumentError(None, msg)
    if arguments.files in schemas:
        sys.stdout.write(schema_text(f"files of the kind {arguments.files}", schemas[arguments.files]))
    else:
        from retarget.results.files import json_schema as schema_of_results

        sys.stdout.write(json.dumps(schema_of_results(), indent=2) + "\n")
    return 0
