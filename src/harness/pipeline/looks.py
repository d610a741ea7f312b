"""Looking at one photo: the costly part of each stage runs here, or comes from the cache.

A backend splits its work in two. What it *sees* in a photo is costly, is kept by content, and depends on some of its
fields; what it *makes* of that (thresholds, filters, geometry) is cheap and done anew each time. The fields that only
the second part reads are the backend's `CHEAP` ones.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from harness.pipeline.cache import Entry, StageCache, key_of
from harness.pipeline.weights import Model

Image = NDArray[np.uint8]

#: Packages that pixels and numbers go through on their way.
_PACKAGES = ("numpy", "opencv-python-headless", "onnxruntime", "rapidocr", "insightface", "pillow")


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
    """One photo on its way through the pipeline: what it cost, and how much of that the cache spared."""

    photo: PhotoSource
    cache: StageCache | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    hits: dict[str, int] = field(default_factory=dict)
    misses: dict[str, int] = field(default_factory=dict)
    #: How often each step that is switched on made a difference; a step with 0 on every photo does nothing.
    steps: dict[str, int] = field(default_factory=dict)

    def step(self, name: str, differences: int) -> None:
        """Note what a step that is switched on has done to this photo's answer."""
        self.steps[name] = self.steps.get(name, 0) + differences

    @cached_property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels, without decoding a photo that was seen before."""
        key = key_of(self.photo.sha256, "size")
        entry = self.cache.get(key) if self.cache else None
        if entry is None:
            entry = Entry([self.photo.image.shape[1], self.photo.image.shape[0]], 0.0)
            if self.cache:
                self.cache.put(key, "size", entry)
        width, height = entry.value
        return width, height

    def see(self, stage: str, backend: Backend, question: Any, compute: Callable[[Image], Any]) -> Any:
        """What `compute` sees in the photo, JSON-able; `question` says what is asked beyond the backend's fields."""
        key = key_of(self.photo.sha256, stage, _identity(backend), question)
        entry = self.cache.get(key) if self.cache else None
        if entry is None:
            image = self.photo.image
            start = time.perf_counter()
            value = compute(image)
            entry = Entry(value, time.perf_counter() - start)
            if self.cache:
                self.cache.put(key, stage, entry)
            self.misses[stage] = self.misses.get(stage, 0) + 1
        else:
            self.hits[stage] = self.hits.get(stage, 0) + 1
        self.seconds[stage] = self.seconds.get(stage, 0.0) + entry.seconds
        return entry.value


@lru_cache
def _identity(backend: Backend) -> str:
    """A digest of all that a backend's eyes depend on: its class, code, models and costly fields, the packages."""
    config = {name: value for name, value in asdict(backend).items() if name not in backend.CHEAP}
    packages = {package: _version(package) for package in _PACKAGES}
    models = [model.sha256 for model in backend.models]
    return key_of(type(backend).__qualname__, _code(type(backend).__module__), config, models, packages)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


@lru_cache
def _code(module: str) -> str:
    """A digest of a module's source and of the pipeline modules that it uses."""
    sources = [sys.modules[module]]
    for value in vars(sys.modules[module]).values():
        origin = inspect.getmodule(value)
        if origin is not None and origin.__name__.startswith("harness.pipeline.") and origin not in sources:
            sources.append(origin)
    total = hashlib.sha256()
    for source in sorted(sources, key=lambda source: source.__name__):
        total.update(inspect.getsource(source).encode())
    return total.hexdigest()
