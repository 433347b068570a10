"""Which shared store the environment names."""

from __future__ import annotations

from pathlib import Path

import pytest
from data_errors import error_of
from retarget.session.cache.remote_objects import RemoteSettings, remote_settings, without_secrets


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")


@pytest.mark.parametrize(
    ("url", "mode", "expected"),
    [
        ("s3://bucket/a/", "", RemoteSettings(url="s3://bucket/a")),
        ("s3://bucket/a", "read", RemoteSettings(url="s3://bucket/a", writes=False)),
        ("gs://bucket", "read-write", RemoteSettings(url="gs://bucket")),
        ("https://host/a", "", RemoteSettings(url="https://host/a", writes=False)),
        ("file:///mnt/a", "", RemoteSettings(url="file:///mnt/a", folder=Path("/mnt/a"))),
        ("/mnt/a", "", RemoteSettings(url="/mnt/a", folder=Path("/mnt/a"))),
        ("~/a", "read", RemoteSettings(url="~/a", folder=Path("/home/me/a"), writes=False)),
        ("", "read", None),
    ],
)
def test_the_environment_names_the_store_and_whether_it_is_written(
    monkeypatch: pytest.MonkeyPatch, url: str, mode: str, expected: RemoteSettings | None
) -> None:
    monkeypatch.setenv("RETARGET_REMOTE_STORE", url)
    monkeypatch.setenv("RETARGET_REMOTE_STORE_MODE", mode)

    assert remote_settings() == expected


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        (
            {"RETARGET_REMOTE_STORE_MODE": "ro"},
            "found RETARGET_REMOTE_STORE_MODE='ro', expected 'read' or 'read-write'",
        ),
        (
            {"RETARGET_REMOTE_STORE": "store"},
            "found RETARGET_REMOTE_STORE='store', expected a URL such as s3://bucket/folder, or the absolute path of a "
            "folder",
        ),
        (
            {"RETARGET_REMOTE_STORE": "https://me:secret@host/a", "RETARGET_REMOTE_STORE_MODE": "read-write"},
            "found RETARGET_REMOTE_STORE_MODE=read-write, but the store https://***@host/a can only be read: leave it "
            "out",
        ),
        (
            {"RETARGET_REMOTE_STORE_TIMEOUT": "0"},
            "found RETARGET_REMOTE_STORE_TIMEOUT='0', expected a number of seconds above 0, such as 10 or 2.5",
        ),
    ],
)
def test_what_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], message: str) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert error_of(remote_settings) == message


def test_messages_have_no_password_and_no_query() -> None:
    text = "404, url='https://me:p@$$@host/a?sig=secret&x=1', message"

    assert without_secrets(text) == "404, url='https://***@host/a?***', message"
