"""What `retarget run` and `retarget emit ctest` are configured with, beside what pytest reads in the same folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_retarget.options.settings import Settings
from pytest_retarget.session.cachedir import cache_dir
from retarget.cli.main import main
from retarget.support.errors import RetargetError
from retarget_ctest.settings import SessionSettings, session_settings


@pytest.fixture(autouse=True)
def _alone(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder to be in, no settings from outside."""
    for name in ("RETARGET_CACHE_DIR", "PYTEST_ADDOPTS", "RETARGET_EXTENSIONS"):
        monkeypatch.delenv(name, raising=False)


def by_pytest(pytester: pytest.Pytester) -> SessionSettings:
    config = pytester.parseconfigure("--capture=no")  # `-p no:cacheprovider` and such would be options of their own
    settings = Settings.of(config)
    return SessionSettings(
        cache=cache_dir(config),
        root=config.rootpath,
        jobs=settings.jobs or None,
        compile_timeout=settings.compile_timeout,
        run_timeout=settings.run_timeout,
        extensions=settings.extensions,
        toolchains=tuple(f"{name}={path}" for name, path in settings.toolchains.items()),
        cases=settings.cases,
        required=tuple(one.text for one in settings.require),
        ignores_expectations=settings.ignore_expectations,
    )


def slow(name: str, text: str) -> object:
    return pytest.param(name, text, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pytest.ini", "[pytest]\naddopts = -k 'not #3' --retarget-run-timeout=5 --retarget-jobs 2\n"),
        ("pytest.ini", "[pytest]\nretarget_run_timeout = 5\nretarget_jobs: 2\n"),
        slow("pytest.ini", "[pytest]\naddopts =\n    -q\n    --retarget-run-timeout=5\n    # --retarget-jobs=2\n"),
        slow("pytest.ini", "[pytest]\naddopts = -o retarget_run_timeout=5 -o retarget_cache_dir=kept\n"),
        slow(
            "pytest.ini",
            "[pytest]\nretarget_run_timeout = 9\naddopts = --retarget-run-timeout=5 --retarget-require=cuda\n",
        ),
        slow("tox.ini", "[pytest]\naddopts = --retarget-run-timeout=5 --retarget-case=a --retarget-case 'b #2'\n"),
        slow("setup.cfg", "[tool:pytest]\nretarget_run_timeout = 5\naddopts = --retarget-ignore-expectations\n"),
        slow("pyproject.toml", '[tool.pytest.ini_options]\naddopts = ["-k", "a#b", "--retarget-run-timeout", "5"]\n'),
        slow("pyproject.toml", '[tool.pytest.ini_options]\naddopts = """\n# --retarget-run-timeout=5"""\n'),
        slow("pyproject.toml", '[tool.pytest.ini_options]\n"retarget_run_timeout" = 5\naddopts = "--runxfail"\n'),
        slow("pytest.toml", '[pytest]\nretarget_run_timeout = "5"\nretarget_extensions = ["tomllib"]\n'),
        slow(".pytest.ini", "[pytest]\naddopts = --retarget-toolchain=a=/b --retarget-run-timeout=5\n"),
    ],
)
def test_an_ini_file_says_what_it_says_to_pytest(pytester: pytest.Pytester, name: str, text: str) -> None:
    Path(name).write_text(text)
    found = session_settings()
    assert found == by_pytest(pytester)
    assert found.run_timeout == 5


@pytest.mark.parametrize(
    "options",
    [
        "--retarget-run-timeout=5",
        pytest.param("-c other.ini", marks=pytest.mark.slow),
        pytest.param("-o retarget_run_timeout=5", marks=pytest.mark.slow),
        pytest.param("-k '#' --retarget-compile-timeout 5 --rootdir=below", marks=pytest.mark.slow),
    ],
)
def test_the_variable_says_what_it_says_to_pytest(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    Path("below").mkdir()
    Path("pytest.ini").write_text("[pytest]\naddopts = --retarget-compile-timeout=9\n")
    Path("other.ini").write_text("[pytest]\nretarget_run_timeout = 5\n")
    monkeypatch.setenv("PYTEST_ADDOPTS", options)
    found = session_settings()
    assert found == by_pytest(pytester)
    assert 5 in (found.run_timeout, found.compile_timeout)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pytest.ini", "[pytest]\n--retarget-jobs=2\n"),
        ("setup.cfg", "[pytest]\nretarget_jobs = 2\n"),
        ("pyproject.toml", "tool.pytest = 3\nretarget_jobs = 2\n"),
        ("pytest.ini", "[pytest]\naddopts = --retarget-jobs=2 -k '\n"),
    ],
)
def test_what_pytest_refuses_counts_as_none(name: str, text: str) -> None:
    Path(name).write_text(text)
    assert session_settings().jobs is None


def test_a_value_of_an_option_that_is_none_is_an_error(
    tmp_path: Path, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    file = pytester.makeini("[pytest]\naddopts = -m 'a#b' --retarget-run-timeout=soon\n")
    assert main(["run", "."]) == 1
    expected = "found 'soon', expected a number of seconds above 0, such as 90 or 0.5"
    assert capsys.readouterr().err == f"--retarget-run-timeout in addopts in {file}: {expected}\n"


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ("-o retarget_jobs=x", "retarget_jobs in PYTEST_ADDOPTS"),
        ("-o addopts=--retarget-jobs=x", "--retarget-jobs in addopts in PYTEST_ADDOPTS"),
    ],
)
def test_a_value_that_is_none_is_named_where_no_file_has_it(
    monkeypatch: pytest.MonkeyPatch, options: str, where: str
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", options)
    with pytest.raises(RetargetError) as caught:
        session_settings()
    assert str(caught.value) == f"{where}: found 'x', expected a number from 1 to 100000"


def test_a_file_that_says_nothing_else_of_retarget_can_ignore_its_expectations(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\naddopts = --runxfail\n")
    found = session_settings()
    assert found == by_pytest(pytester)
    assert found.ignores_expectations
