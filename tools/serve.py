"""Serves a folder on this machine: `python tools/serve.py _build/html`."""

import sys
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class Handler(SimpleHTTPRequestHandler):
    """Serves files without a log, and never lets a browser use a stale copy from its
    cache.
    """

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""

    def end_headers(self) -> None:
        """Make the browser check for a newer file every time."""
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()


class Server(ThreadingHTTPServer):
    """A server with one thread per request, and a queue for all requests that a page
    makes at once.
    """

    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that leaves a page before it is loaded."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def server(folder: Path, first_port: int = 8000) -> ThreadingHTTPServer:
    """A server of `folder` on the first free port of this machine from `first_port`
    on.
    """
    handler = partial(Handler, directory=str(folder))
    for port in range(first_port, first_port + 100):
        with suppress(OSError):
            return Server(("127.0.0.1", port), handler)
    raise OSError(
        f"No free port from {first_port} to {first_port + 99}: stop a server there and "
        "try again."
    )


def main(folder: str = "_build/html") -> None:
    """Serve until interrupted."""
    with server(Path(folder)) as site:
        print(
            f"The book is at http://localhost:{site.server_port}/ (Ctrl-C stops it)",
            flush=True,
        )
        with suppress(KeyboardInterrupt):
            site.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
