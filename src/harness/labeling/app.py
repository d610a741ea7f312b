"""The labelling app: routes, and what an error becomes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from harness.base.checks import in_words
from harness.base.errors import (
    HarnessError,
    InvalidEditError,
    NameTakenError,
    PhotoError,
    QueryError,
    StaleRevisionError,
    UnknownPhotoError,
)
from harness.labeling import (
    audit_routes,
    find_routes,
    item_routes,
    page_routes,
    people_routes,
    photo_routes,
    photo_run_routes,
    picture_routes,
    run_actions,
    run_routes,
    set_routes,
)
from harness.labeling.access import Access, Guard
from harness.labeling.answers import Refused
from harness.labeling.context import Context
from harness.labeling.people import routes as workbench_routes
from harness.labeling.queues import Filters
from harness.labeling.refusals import Refusal, log_refusal
from harness.labeling.rendering import EDITORS, compile_templates, render
from harness.labeling.source import FrozenError

STATIC = Path(__file__).parent / "static"

#: Lists of photos, whose filters live in the address.
_LISTS = (*EDITORS.values(), "/staging/", "/api/queue", "/api/photos")
#: Errors of the store as answers; the first that fits counts.
_ERRORS: tuple[tuple[type[HarnessError], int, str], ...] = (
    (FrozenError, 403, "frozen"),
    (UnknownPhotoError, 404, "not_found"),
    (NameTakenError, 409, "taken"),
    (InvalidEditError, 422, "invalid"),
    (QueryError, 422, "invalid"),
    (PhotoError, 404, "not_found"),
    (HarnessError, 503, "store"),
)


def make_app(context: Context, access: Access) -> ASGIApp:
    """The app behind its guard. What takes a while is done at once, so that the first page is as quick as any other."""
    app = FastAPI(
        title="harness labelling",
        description="Labels of a reference set. docs/labeling.md has the rules.",
        docs_url=None,
        redoc_url=None,
        responses={"4XX": {"model": Refused}, "503": {"model": Refused}},
    )
    app.state.context = context
    for routes in (photo_routes, set_routes, picture_routes, find_routes, page_routes):
        app.include_router(routes.router)
    for routes in (run_routes, run_actions, photo_run_routes, people_routes, item_routes):
        app.include_router(routes.router)
    app.include_router(photo_run_routes.api)
    app.include_router(workbench_routes.pages)
    app.include_router(workbench_routes.router)
    app.include_router(audit_routes.router)
    app.include_router(audit_routes.pages)
    app.mount("/static", _Scripts(directory=STATIC), name="static")
    for error, handler in _HANDLERS.items():
        app.add_exception_handler(error, handler)
    context.summary()
    context.cross_checks()
    context.history.current()
    compile_templates()
    return Guard(app, access)


class _Scripts(StaticFiles):
    """Scripts and styles: a browser may keep them, and asks each time whether they are still the same."""

    def file_response(self, *arguments: Any, **options: Any) -> Response:
        """A file with its ETag."""
        response = super().file_response(*arguments, **options)
        response.headers["Cache-Control"] = "no-cache"
        return response


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return _answer(request, error)


async def _invalid(request: Request, error: Exception) -> Response:
    """A field that does not fit; an address that does not fit is simply not there."""
    assert isinstance(error, RequestValidationError)
    if any(item["loc"][0] == "path" for item in error.errors()):
        return _answer(request, Refusal(404, "not_found", "no such photo or page"))
    if any(item["type"] == "json_invalid" for item in error.errors()):
        return _answer(request, Refusal(422, "invalid", "the body is not JSON"))
    fields = [{"where": _where(item), "message": in_words(item)} for item in error.errors()]
    first = fields[0]
    if request.url.path.startswith(_LISTS) and any(item["loc"][0] == "query" for item in error.errors()):
        return _answer(request, Refusal(400, "bad_request", _no_filter(error.errors()[0]), fields=fields[:20]))
    return _answer(request, Refusal(422, "invalid", f"{first['where']}: {first['message']}", fields=fields[:20]))


def _no_filter(item: dict[str, Any]) -> str:
    """What is wrong with the filters of a list, in a sentence."""
    name = _where(item)
    if item["type"] == "extra_forbidden":
        return f"there is no filter {name!r}; there are {', '.join(Filters.model_fields)} and page"
    return f"{name}={str(item['input'])[:80]}: {in_words(item)}"


def _where(item: dict[str, Any]) -> str:
    return ".".join(str(part) for part in item["loc"][1:])


async def _not_served(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = {404: "not_found", 405: "method"}.get(error.status_code, "bad_request")
    return _answer(request, Refusal(error.status_code, code, str(error.detail)))


def _stale(request: Request, error: Exception) -> Response:
    """Theirs, for a choice: the photo as it is now, and its revision."""
    assert isinstance(error, StaleRevisionError)
    current = request.app.state.context.photo(error.photo)
    refusal = Refusal(409, "stale", str(error), current=current.model_dump(mode="json"))
    log_refusal(request.scope, refusal)
    return refusal.answer({"ETag": f'"{current.revision}"'})


def _wrong(request: Request, error: Exception) -> Response:
    status, code = next((status, code) for kind, status, code in _ERRORS if isinstance(error, kind))
    return _answer(request, Refusal(status, code, str(error)))


def _answer(request: Request, refusal: Refusal) -> Response:
    """JSON for programs, a page for people."""
    log_refusal(request.scope, refusal)
    if request.url.path.startswith("/api") or "text/html" not in request.headers.get("accept", ""):
        return refusal.answer()
    return render(request, "error.html", refusal.status, refusal=refusal)


_HANDLERS: dict[type[Exception], Callable[[Request, Exception], Response | Awaitable[Response]]] = {
    Refusal: _refused,
    RequestValidationError: _invalid,
    HTTPException: _not_served,
    StaleRevisionError: _stale,
    HarnessError: _wrong,
}
