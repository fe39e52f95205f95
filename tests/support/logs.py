"""A small log, and a server on the loopback interface that keeps it, for tests of named logs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

LOG = b"; MaxProcs: 4\n; Acknowledge: Ann  Example\n" + b"".join(
    b"%d %d -1 10 2" % (job, job * 100) + 13 * b" -1" + b"\n" for job in range(1, 40)
)
"""A small log of SWF."""

KTH = "KTH-SP2-1996-2.1-cln"
"""A registered log."""


@dataclass
class Server:
    """A real server on the loopback interface, its answers, and the requests to it."""

    port: int = 0
    files: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    cut: int = 0

    def put(self, name: str, content: bytes, status: int = 200) -> str:
        """Serve a file, and return its URL."""
        self.files[f"/logs/{name}"] = (status, content)
        return f"http://127.0.0.1:{self.port}/logs/{name}"


@contextmanager
def serving() -> Iterator[Server]:
    """Listen on a free port, and stop at the end."""
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(self.path)
            status, content = state.files.get(self.path, (404, b"nothing here"))
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) - state.cut])

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as real:
        state.port = real.server_address[1]
        thread = threading.Thread(target=real.serve_forever, args=(0.01,))
        thread.start()
        yield state
        real.shutdown()
        thread.join()


def listed(folder: Path) -> list[str]:
    """Return the names in a folder, if it exists."""
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []
