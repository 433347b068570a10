"""A project with a target for each outcome: passed, failed, expected, unexpected, blocked, skipped."""

from __future__ import annotations

from pathlib import Path

import pytest
from declaration_texts import VMVX_FLAGS, compiler, declarations, runtime, suite, table, target
from mlir_modules import CRASHES, DIFFERS, GOOD, REFUSED


def _rule(match: str, **more: object) -> str:
    return table("expectation", match=match, reason=f"known of {match}", **more)


@pytest.fixture(scope="session")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the project. Tests write nothing into it but folders of their own."""
    folder = tmp_path_factory.mktemp("mixed")
    matrix = declarations(
        "root = true\n",
        compiler("vmvx", flags=VMVX_FLAGS, tags=["portable"]),
        runtime("sync"),
        runtime("phone", host_os="ios"),
        target("all", "vmvx", ["sync", "phone"]),
        _rule("known", stage="compare"),
        _rule("mended", stage="compare"),
        _rule("compiles_again", stage="compile"),
        _rule("crashes", stage="crash"),
        _rule("never", outcome="skip"),
    )
    files = {
        "pytest.ini": "[pytest]\n",
        "matrix.toml": matrix,
        "linalg/suite.toml": suite("linalg"),
        "linalg/good.mlir": GOOD,
        "linalg/mended.mlir": GOOD,
        "linalg/compiles_again.mlir": GOOD,
        "linalg/never.mlir": GOOD,
        "linalg/wrong.mlir": DIFFERS,
        "linalg/known.mlir": DIFFERS,
        "linalg/refused.mlir": REFUSED,
        "linalg/crashes.mlir": CRASHES,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder
