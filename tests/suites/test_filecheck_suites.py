"""The shipped modules whose compiled text is checked: each says what it tests, and could fail for every config."""

from __future__ import annotations

import pytest
from retarget.extension import ArtifactRequest
from retarget.model import CompileTarget, Target
from retarget.session import expand_suite, load_extensions
from retarget_cases.filecheck.loader import FileCheckLoader
from shipped_suites import SUITES, all_suites


def shipped() -> list[Target]:
    registry = load_extensions()
    return [target for suite in all_suites() if suite.kind == "filecheck" for target in expand_suite(suite, registry)]


TARGETS = [target for target in shipped() if isinstance(target, CompileTarget)]


def test_every_module_is_checked_and_none_is_run() -> None:
    folders = (SUITES / "filecheck", SUITES / "data-tiling" / "text", SUITES / "multi-device" / "text")
    assert {target.module.path for target in TARGETS} == {path for folder in folders for path in folder.glob("*.mlir")}
    assert shipped() == TARGETS


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_module_says_what_it_tests_and_fails_for_a_text_that_is_not_so(target: CompileTarget) -> None:
    assert target.module.path.read_text(encoding="utf-8").startswith("// ")
    request = ArtifactRequest(
        module=target.module.name, source=target.module.path, artifact=b"module {\n}\n", compiler=target.compiler.name
    )
    (case,) = FileCheckLoader().check(request)
    assert "match" in case.summary or "find label" in case.summary
