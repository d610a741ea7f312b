"""The search for photos on the pages: models and photos are looked at when somebody searches first, on a thread aside.

Whoever searches meanwhile is told how far that is. Labels and photos that changed since are read again before the next
answer. The picture that somebody searches with is in memory for as long as its request takes, and nowhere else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from harness.base.errors import HarnessError
from harness.base.progress import watched
from harness.labeling.refusals import Refusal
from harness.labeling.source import LabelSource
from harness.references.contents import Contents
from harness.tasks.identity.finder import Finder, Found, Gallery, Query, checked_number

#: What a picture from a page is called in sentences.
PICTURE = "your picture"
#: How long a request waits for photos that are being looked at before it tells how far that is.
_SECONDS_TO_WAIT = 2.0
_UNEXPECTED = "the photos could not be looked at; the log of the server says why"


@dataclass(frozen=True)
class State:
    """How far the photos are: nobody has searched yet, they are being looked at, they can be searched, or they cannot
    and why."""

    phase: Literal["idle", "preparing", "ready", "failed"]
    done: int = 0
    total: int = 0
    message: str = ""


class PhotoSearch:
    """Searches the photos of a source; `make` makes what does, and says what is missing."""

    def __init__(self, source: LabelSource, make: Callable[[], Finder]) -> None:
        self._source, self._make = source, make
        self._lock = threading.Lock()
        self._models = threading.Lock()  # detectors take one picture at a time
        self._finder: Finder | None = None
        self._gallery: Gallery | None = None
        self._contents: Contents | None = None
        self._work: threading.Thread | None = None
        self._state = State("idle")

    @property
    def state(self) -> State:
        """How far the photos are."""
        return self._state

    def find(self, picture: bytes | None, number: str | None) -> Found:
        """The photos that come back. Raises QueryError for what cannot be searched with, and Refusal where the photos
        are not ready."""
        whole = None if number is None else checked_number(number)
        gallery = self._ready()
        if picture is None:
            return gallery.answer(Query(number=whole))
        assert self._finder is not None, "it has made the gallery"
        with self._models:
            face = self._finder.look(PICTURE, picture)
        return gallery.answer(Query(face, PICTURE, whole))

    @contextmanager
    def opened(self) -> Iterator[Finder]:
        """The models, opened, and nobody else's meanwhile. Raises HarnessError where they cannot be had."""
        with self._models:
            yield self._loaded()

    def _loaded(self) -> Finder:
        if self._finder is None:
            finder = self._make()
            finder.load()
            self._finder = finder
        return self._finder

    def _ready(self) -> Gallery:
        """The photos as they are now; where that takes a while, a refusal that says how far it is."""
        contents = self._source.contents()
        with self._lock:
            if self._gallery is not None and _same(contents, self._contents):
                return self._gallery
            if self._work is None:
                self._state = State("preparing", total=len(contents.index.photos))
                self._work = threading.Thread(target=self._prepare, args=(contents,), name="find", daemon=True)
                self._work.start()
            work = self._work
        work.join(_SECONDS_TO_WAIT)
        with self._lock:
            if self._state.phase == "ready" and self._gallery is not None:
                return self._gallery
            state = self._state
        if state.phase == "failed":
            raise Refusal(503, "unavailable", state.message)
        told = f"the photos are being looked at: {state.done:,} of {state.total:,}"
        raise Refusal(503, "preparing", told, done=state.done, total=state.total)

    def _prepare(self, contents: Contents) -> None:
        state, gallery = State("failed", message=_UNEXPECTED), None
        try:
            with self._models, watched(self._tell):
                gallery = self._loaded().open()
            state = State("ready", len(gallery.photos), len(gallery.photos))
        except HarnessError as error:
            state = State("failed", message=str(error))
        finally:
            with self._lock:
                self._gallery, self._contents, self._state, self._work = gallery, contents, state, None

    def _tell(self, done: int, total: int) -> None:
        self._state = State("preparing", done, total)


def _same(now: Contents, then: Contents | None) -> bool:
    """Whether no file has changed: files that are as they were are the very same objects."""
    return then is not None and all(getattr(now, name) is getattr(then, name) for name in vars(now))
