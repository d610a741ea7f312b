"""Who may ask: every request passes here before anything of it is looked at.

The `Host` has to be a name of this server, so that no other site can have its name resolve to this machine and read
labels; a write has to come from the server's own pages, or from a program; on an address that others can reach, a token
is asked for. Every answer carries the headers that keep a page from loading or running anything from elsewhere.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import socket
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.labeling.refusals import Refusal, log_refusal

MOST_BYTES = 2 * 1024 * 1024
#: Where a write is no label but a picture to search with, and how large that may be.
PICTURES, MOST_PICTURE_BYTES = frozenset({"/find/"}), 20 * 1024 * 1024
#: Writes that a plain form makes, so that a page without scripts can. Any site could make such a form: whoever sends it
#: has to say that it comes from this server.
FORMS, FORM = re.compile(r"/runs/[^/]+/(baseline|report)"), "application/x-www-form-urlencoded"
COOKIE = "harness_token"
_READS = frozenset({"GET", "HEAD"})
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Access:
    """The address that the server listens on, and the token that it asks for."""

    host: str = "127.0.0.1"
    token: str | None = field(default=None, repr=False)

    def knows(self, name: str) -> bool:
        """Whether a `Host`, without its port, is this server. An address in digits cannot be made to lie by DNS."""
        name = name.lower()
        if is_loopback(self.host):
            return name in _LOOPBACK_NAMES
        if name == self.host.lower():
            return True
        own = {"localhost", socket.gethostname().lower(), socket.getfqdn().lower()}
        return is_any_address(self.host) and (name in own or _is_address(name))

    def admits(self, given: str | None) -> bool:
        """Whether a token is the right one, in a time that tells nothing about it."""
        return self.token is None or hmac.compare_digest((given or "").encode(), self.token.encode())


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def is_any_address(host: str) -> bool:
    """Whether an address stands for all of this machine's."""
    return _is_address(host) and ipaddress.ip_address(host).is_unspecified


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """The app behind its checks."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or let the app answer; either way with the headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        try:
            self._check(scope, headers)
            if (entry := self._entry(scope)) is not None:
                await entry(scope, receive, send_safely)
                return
            self._check_token(headers)
            body = receive if scope["method"] in _READS else await _bounded(scope["path"], headers, receive)
        except Refusal as refusal:
            log_refusal(scope, refusal)
            await refusal.answer({"Connection": "close"})(scope, receive, send_safely)
            return
        await self._app(scope, body, send_safely)

    def _check(self, scope: Scope, headers: Headers) -> None:
        host = headers.get("host", "")
        if not self._access.knows(_name(host)):
            raise Refusal(421, "host", f"this server does not answer for the host {host!r}")
        if scope["method"] in _READS:
            return
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and origin.lower() != f"{scope['scheme']}://{host}".lower():
            raise Refusal(403, "cross_site", f"a write from the origin {origin!r}, which is not this server's")
        if site is not None and site != "same-origin":
            raise Refusal(403, "cross_site", f"a write that a browser says is {site!r}, not same-origin")
        if origin is None and site is None and _kind(headers) == FORM:
            raise Refusal(403, "cross_site", "a form that does not say which origin it comes from")

    def _entry(self, scope: Scope) -> ASGIApp | None:
        """The first visit, with the token in the address: the way to the same page with the token in a cookie."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == "token"]
        if self._access.token is None or scope["method"] not in _READS or not given:
            return None
        if not self._access.admits(given[-1]):
            raise Refusal(401, "token", "the token in the address is not this server's")
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        path = "/" + quote(scope["path"]).lstrip("/")
        response = RedirectResponse(path + (f"?{rest}" if rest else ""), 303)
        response.set_cookie(COOKIE, self._access.token, httponly=True, samesite="strict")
        return response

    def _check_token(self, headers: Headers) -> None:
        if self._access.token is None:
            return
        bearer = headers.get("authorization", "")
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        given = bearer.removeprefix("Bearer ") if bearer.startswith("Bearer ") else cookie.value if cookie else None
        if not self._access.admits(given):
            raise Refusal(401, "token", "open the address that the server printed when it started: it has the token")


async def _bounded(path: str, headers: Headers, receive: Receive) -> Receive:
    """The body of a write, read up to a limit and handed on whole."""
    kind = _kind(headers)
    if path in PICTURES and not kind.startswith("image/"):
        raise Refusal(415, "not_a_picture", "a picture to search with has a Content-Type such as image/jpeg")
    if path not in PICTURES and kind != "application/json" and not (kind == FORM and FORMS.fullmatch(path)):
        raise Refusal(415, "not_json", "a write has Content-Type: application/json")
    most = MOST_PICTURE_BYTES if path in PICTURES else MOST_BYTES
    too_large = Refusal(413, "too_large", f"the body has more than {most // 1024**2} MiB")
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > most:
        raise too_large
    chunks, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            break
        chunks.append(message.get("body", b""))
        size, more = size + len(chunks[-1]), message.get("more_body", False)
        if size > most:
            raise too_large
    waiting = [{"type": "http.request", "body": b"".join(chunks), "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


def _kind(headers: Headers) -> str:
    """What a body is, without its parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _name(host: str) -> str:
    """A `Host` without its port: `[::1]:8000` -> `::1`."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]
