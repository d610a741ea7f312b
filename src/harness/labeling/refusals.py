"""Requests that are refused: one answer and one log line, whoever refuses them."""

from __future__ import annotations

import logging
from typing import Any

import orjson
from starlette.responses import Response
from starlette.types import Scope

log = logging.getLogger("harness.labeling")

_MOST_LOGGED = 200


class Refusal(Exception):  # noqa: N818 - it is an answer
    """A request that is not carried out, and why."""

    def __init__(self, status: int, code: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.more = status, code, message, more

    def answer(self, headers: dict[str, str] | None = None) -> Response:
        """What the client gets."""
        body = orjson.dumps({"error": self.code, "message": self.message, **self.more})
        return Response(body, self.status, headers, "application/json")


def log_refusal(scope: Scope, refusal: Refusal) -> None:
    """Write down who was refused what, in one line whatever the request holds."""
    client = scope.get("client")
    what = f"{scope['method']} {_one_line(scope['path'])} from {client[0] if client else 'unknown'}"
    log.warning("refused %s: %d %s: %s", what, refusal.status, refusal.code, _one_line(refusal.message))


def _one_line(text: str) -> str:
    clean = "".join(character if character.isprintable() else "�" for character in text)
    return clean if len(clean) <= _MOST_LOGGED else f"{clean[:_MOST_LOGGED]}…"
