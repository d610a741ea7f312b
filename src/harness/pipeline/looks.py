"""Looking at one photo: the costly part of each stage runs here, or comes from the cache.

A backend splits its work in two. What it *sees* in a photo is costly, is kept by content, and depends on some of its
fields; what it *makes* of that (thresholds, filters, geometry) is cheap and done anew each time. The fields that only
the second part reads are the backend's `CHEAP` ones.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from harness.base.code import code_of, modules_of
from harness.base.objects import dotted_name
from harness.pipeline.cache import Entry, StageCache, decoded, encoded, key_of
from harness.pipeline.weights import Model, open_models
from harness.types import DroppedText

Image = NDArray[np.uint8]


class Backend(Protocol):
    """A frozen dataclass of parameters; `CHEAP` names those that do not change what the backend sees."""

    CHEAP: ClassVar[frozenset[str]]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def models(self) -> tuple[Model, ...]:
        """The weights in use."""

    def __hash__(self) -> int: ...


class PhotoSource(Protocol):
    """A photo that is decoded when somebody asks for its pixels."""

    @property
    def sha256(self) -> str:
        """The hash of its bytes, which have been checked."""

    @property
    def image(self) -> Image:
        """Its upright pixels, BGR."""


@dataclass
class Look:
    """One photo on its way through the pipeline: what was computed, what that cost, and what the cache spared.

    `hits` count answers from the cache, whose seconds belong to another hour and are not told. Answers that were
    computed here, `misses`, have theirs, also where the same question comes again; `cpu_seconds` are those of the
    whole process meanwhile. Both are kept by stage.
    """

    photo: PhotoSource
    cache: StageCache | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    cpu_seconds: dict[str, float] = field(default_factory=dict)
    hits: dict[str, int] = field(default_factory=dict)
    misses: dict[str, int] = field(default_factory=dict)
    #: How often each step that is switched on made a difference; a step with 0 on every photo does nothing.
    steps: dict[str, int] = field(default_factory=dict)
    #: What a bib reader saw and made no whole number of, and why.
    dropped: list[DroppedText] = field(default_factory=list)
    #: The answers that were computed here, by key, with their seconds.
    _computed: dict[str, float] = field(default_factory=dict, repr=False)
    _asked: Any = field(default_factory=hashlib.sha256, repr=False)
    #: What each backend that looks at this photo is known by; kept with the backend, so that no other takes its place.
    _identities: dict[int, tuple[Backend, str]] = field(default_factory=dict, repr=False)

    def step(self, name: str, differences: int) -> None:
        """Note what a step that is switched on has done to this photo's answer."""
        self.steps[name] = self.steps.get(name, 0) + differences

    def drop(self, *texts: DroppedText) -> None:
        """Note texts of this photo that became no number."""
        self.dropped += texts

    @cached_property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels, without decoding a photo that was seen before."""
        entry = self.cache.get(self._size_key, "size", self.photo.sha256) if self.cache else None
        if entry is None:
            entry = Entry([self.photo.image.shape[1], self.photo.image.shape[0]], 0.0)
            if self.cache:
                self.cache.put(self._size_key, "size", entry, self.photo.sha256)
        width, height = entry.value
        return width, height

    @property
    def _size_key(self) -> str:
        return key_of(self.photo.sha256, "size", decoder_key(type(self.photo)))

    def _key(self, stage: str, backend: Backend, question: Any) -> str:
        if (known := self._identities.get(id(backend))) is None:
            known = self._identities[id(backend)] = backend, seeing_identity(backend)
        return key_of(self.photo.sha256, stage, known[1], decoder_key(type(self.photo)), question)

    def see(self, stage: str, backend: Backend, question: Any, compute: Callable[[Image], Any]) -> Any:
        """What `compute` sees in the photo, as JSON values or as one array of numbers; `question` says what is asked
        beyond the backend's fields."""
        key = self._key(stage, backend, question)
        self._asked.update(key.encode())
        entry = self.cache.get(key, stage, self.photo.sha256) if self.cache else None
        if entry is None:
            if hasattr(backend, "find_models"):  # it was only checked so far
                open_models(backend)
            entry = self._compute(stage, compute)
            self._computed[key] = entry.seconds
            if self.cache:
                self.cache.put(key, stage, entry, self.photo.sha256)
        counts = self.misses if key in self._computed else self.hits
        counts[stage] = counts.get(stage, 0) + 1
        if key in self._computed:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + self._computed[key]
        return entry.value

    @property
    def asked(self) -> bytes:
        """A digest of everything that was asked of this photo, computed or not: two looks that have asked the same take
        as long to compute, whatever else differs."""
        return bytes(self._asked.digest()[:16])

    def _compute(self, stage: str, compute: Callable[[Image], Any]) -> Entry:
        image = self.photo.image  # decoded before the clock starts
        wall, cpu = time.perf_counter(), time.process_time()
        value = compute(image)
        self.cpu_seconds[stage] = self.cpu_seconds.get(stage, 0.0) + time.process_time() - cpu
        seconds = time.perf_counter() - wall
        return Entry(as_kept(value), seconds)


def as_kept(value: Any) -> Any:
    """A value as the cache gives it back, so that the first run says what the next one says: lists, not tuples."""
    return decoded(encoded(value))


def whole_identity(backend: Any) -> str:
    """A digest of all that the answers and the time of a backend, or of a linker, depend on: every field counts."""
    values = repr(asdict(backend))
    known = (type(backend), values)
    if known not in _WHOLE:
        models = [model.sha256 for model in getattr(backend, "models", ())]
        _WHOLE[known] = key_of(dotted_name(type(backend)), code_of(*modules_of(backend)).digest, values, models)
    return _WHOLE[known]


#: The digests that were made in this process. Backends that call themselves equal may differ in a field. Code that is
#: edited meanwhile is refused by whoever makes the key of the run.
_WHOLE: dict[tuple[type[Any], str], str] = {}
_IDENTITIES: dict[tuple[type[Any], str], str] = {}


def seeing_identity(backend: Backend) -> str:
    """A digest of all that a backend's eyes depend on: its class, its code, its models and its costly fields."""
    values = asdict(backend)
    known = (type(backend), repr(values))
    if known not in _IDENTITIES:
        config = {name: value for name, value in values.items() if name not in backend.CHEAP}
        models = [model.sha256 for model in backend.models]
        own = (dotted_name(type(backend)), code_of(*modules_of(backend)).digest)
        _IDENTITIES[known] = key_of(*own, config, models)
    return _IDENTITIES[known]


@cache
def decoder_key(source: type[PhotoSource]) -> str:
    """A digest of the code that turns a photo's bytes into the pixels that a backend is given."""
    return code_of(source.__module__).digest
