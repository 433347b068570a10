"""A proxy before an HTTP server, which does to requests what networks and overloaded servers do."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import urlsplit

__all__ = ["FaultyProxy"]

FORWARDED = {"content-length", "content-type", "etag", "last-modified", "content-range", "location"}
"""Without checksums: what is damaged must be found by its digest."""


class FaultyProxy:
    """Forwards what is sent to `url`. `fault` is one of

    - `""`: forward
    - `"503"` or another number: answer with this status
    - `"hang"`: never answer
    - `"drip"`: send a byte of the answer every now and then, without end
    - `"cut"`: end the connection after half of the answer's content
    - `"corrupt"`: change a byte of the content
    - `"swell"`: send the content a million times over, whatever was asked for
    - `"reset"`: end the connection without an answer
    """

    def __init__(self, upstream: str) -> None:
        parts = urlsplit(upstream)
        self.fault = ""
        self.requests: list[str] = []
        """The methods of what came in."""
        self.applies: Callable[[str, str], bool] = lambda method, path: True
        """To which requests the fault is done."""
        self._ended = threading.Event()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def handle_any(self) -> None:
                proxy.requests.append(self.command)
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                fault = proxy.fault if proxy.applies(self.command, self.path) else ""
                if fault == "hang":
                    proxy._ended.wait()
                    self.close_connection = True
                elif fault == "reset":
                    self.close_connection = True
                elif fault.isdigit():
                    self.answer(int(fault), {}, b"")
                else:
                    self.forward(body, fault)

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any  # noqa: N815

            def forward(self, body: bytes, fault: str) -> None:
                connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
                connection.request(self.command, self.path, body, dict(self.headers))
                found = connection.getresponse()
                content = found.read()
                connection.close()
                headers = {name: value for name, value in found.headers.items() if name.lower() in FORWARDED}
                if fault == "corrupt" and content:
                    content = content[:-1] + bytes([content[-1] ^ 1])
                self.answer(found.status, headers, content, fault)

            def answer(self, status: int, headers: dict[str, str], content: bytes, fault: str = "") -> None:
                self.send_response(status)
                for name, value in headers.items():
                    if name.lower() != "content-length":
                        self.send_header(name, value)
                times = 1_000_000 if fault == "swell" else 1
                length = headers.get("Content-Length", "0") if self.command == "HEAD" else str(times * len(content))
                self.send_header("Content-Length", length)
                self.end_headers()
                if self.command == "HEAD":
                    return
                if fault == "cut":
                    self.wfile.write(content[: len(content) // 2])
                    self.close_connection = True
                elif fault == "drip":
                    for byte in content:
                        self.wfile.write(bytes([byte]))
                        if proxy._ended.wait(0.2):
                            break
                    self.close_connection = True
                else:
                    try:
                        for _ in range(times):
                            self.wfile.write(content)
                    except OSError:  # the client has had enough
                        self.close_connection = True

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
