"""The health page: the state of each part, as a page for people and as JSON for programs. It contains no secret."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from harness.serving.supervisor import PartState

_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>harness serve: {title}</title>
<meta name="viewport" content="width=device-width"><meta http-equiv="refresh" content="5">
<style>body{{font:16px/1.5 system-ui,sans-serif;margin:2rem;color:#1c1c1c;background:#fff}}
td,th{{text-align:left;padding:.3rem 1rem .3rem 0;vertical-align:top}}</style></head>
<body><h1>harness serve: {title}</h1><table><thead><tr><th>Part<th>State<th>Since<th>Address<th>Restarts</tr></thead>
<tbody>{rows}</tbody></table></body></html>"""


def health(states: Sequence[PartState]) -> dict[str, Any]:
    """How the parts are. `ready` holds where all of them answer; one that runs and does not answer is `silent`."""
    parts = [_told(state) for state in states]
    return {"ready": all(part["state"] == "ready" for part in parts), "parts": parts}


def _told(state: PartState) -> dict[str, Any]:
    silent = state.state == "ready" and not state.part.answers()
    return {
        "name": state.part.name,
        "state": "silent" if silent else state.state,
        "since": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(state.since)),
        "address": state.part.address,
        "restarts": state.restarts,
        "last_end": state.last_end,
    }


def health_page(told: dict[str, Any]) -> str:
    """The same as a page that renews itself."""
    rows = "".join(
        f"<tr><td>{escape(part['name'])}<td>{part['state']}<td>{part['since']}"
        f'<td><a href="{escape(part["address"])}">{escape(part["address"])}</a>'
        f"<td>{part['restarts']}{escape(', ' + part['last_end'] if part['last_end'] else '')}</tr>"
        for part in told["parts"]
    )
    return _PAGE.format(title="everything is ready" if told["ready"] else "not everything is ready", rows=rows)


@contextmanager
def serving_health(host: str, port: int, states: Callable[[], Sequence[PartState]]) -> Iterator[None]:
    """Answer `/` with the page and `/health` with JSON, 200 where everything is ready and 503 where it is not."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told = health(states())
            if self.path not in ("/", "/health"):
                self.send_error(404)
                return
            page = self.path == "/"
            content = (health_page(told) if page else json.dumps(told, indent=1)).encode()
            self.send_response(200 if told["ready"] else 503)
            self.send_header("Content-Type", f"{'text/html' if page else 'application/json'}; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: somebody asks every few seconds."""

    server = ThreadingHTTPServer((host, port), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
