"""What is said of OpenCL drivers (ICDs) whose library does not load."""

from __future__ import annotations

from pathlib import Path

import pytest
from retarget_opencl.device.icds import icd_complaints


def test_a_driver_whose_library_is_missing_is_named_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    assert icd_complaints() == ()
    (tmp_path / "x.icd").write_text("/nowhere/libx.so\n")
    reason = "/nowhere/libx.so: cannot open shared object file: No such file or directory"
    assert icd_complaints() == (f"{tmp_path / 'x.icd'}: {reason}",)
