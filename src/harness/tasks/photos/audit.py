"""The audit of a run: some of what it took from the stage cache is computed anew, and has to come out the same.

It is the last line of defence: keys and checksums should make a wrong answer impossible, and this would notice if they
did not. Strings and counts have to be equal; numbers may differ by `TOLERANCE`, as far as another order of additions
on several cores may move them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harness.pipeline import Pipeline
from harness.pipeline.cache import StageCache
from harness.pipeline.looks import Backend, Image, Look, as_kept
from harness.references.photos import open_photo
from harness.runs.plan import Audit
from harness.tasks.photos.predicting import EvaluatedPhoto

TOLERANCE = 1e-3


@dataclass
class AuditLook(Look):
    """Computes every answer anew and compares it with that of the cache, for the stages that the cache answered.

    It goes on with the cache's answer, so that the same questions follow as in the run. An answer that differs is
    dropped from the cache.
    """

    stages: Collection[str] = ()
    #: How many answers of each stage were computed anew.
    checked: dict[str, int] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)

    def see(self, stage: str, backend: Backend, question: Any, compute: Callable[[Image], Any]) -> Any:
        """The cache's answer where there is one, compared with a new one."""
        key = self._key(stage, backend, question)
        entry = self.cache.get(key, stage, self.photo.sha256) if self.cache else None
        if entry is None:
            return as_kept(compute(self.photo.image))
        if stage in self.stages:
            self._check(stage, key, entry.value, compute)
        return entry.value

    def check_size(self) -> None:
        """Compare the size that the cache has with that of the pixels."""
        entry = self.cache.get(self._size_key, "size", self.photo.sha256) if self.cache else None
        if entry is not None:
            self._check("size", self._size_key, entry.value, lambda image: [image.shape[1], image.shape[0]])

    def _check(self, stage: str, key: str, cached: Any, compute: Callable[[Image], Any]) -> None:
        image = self.photo.image
        self.checked[stage] = self.checked.get(stage, 0) + 1
        try:
            found = difference(cached, as_kept(compute(image)))
        except Exception as error:  # noqa: BLE001 - a backend that raises where the cache has an answer differs from it
            found = f"an answer in the cache, {type(error).__name__} when computed anew: {error!s:.200}"
        if found:
            self.differences.append(f"{stage}: {found}")
            if self.cache:
                self.cache.drop(key, self.photo.sha256)


def audit(pipeline: Pipeline, photos: Sequence[EvaluatedPhoto], cache: StageCache, share: float) -> Audit:
    """Compute this share of the photos that the cache has answered anew: at least one for each stage."""
    checked, differences = 0, []
    for item in chosen(photos, share):
        look = AuditLook(open_photo(item.photo.path, item.sha256), cache, stages=item.hits)
        look.check_size()
        pipeline.embed(look, pipeline.predict(look).faces)
        # An answer that the run had computed itself is compared, too, and does not count; nor does the size.
        checked += sum(min(look.checked.get(stage, 0), hits) for stage, hits in item.hits.items())
        differences += [f"{item.name}: {text}" for text in look.differences]
    return Audit(checked, sum(sum(item.hits.values()) for item in photos), tuple(differences))


def chosen(photos: Sequence[EvaluatedPhoto], share: float) -> list[EvaluatedPhoto]:
    """Which photos are audited: chance decides, and nobody can foresee it."""
    chance, answered = random.SystemRandom(), {row: tuple(item.hits) for row, item in enumerate(photos) if item.hits}
    picked = set(chance.sample(list(answered), math.ceil(share * len(answered))))
    for stage in sorted({stage for stages in answered.values() for stage in stages}):
        if not any(stage in answered[row] for row in picked):
            picked.add(chance.choice([row for row, stages in answered.items() if stage in stages]))
    return sorted((item for row, item in enumerate(photos) if row in picked), key=lambda item: item.name)


def difference(cached: Any, fresh: Any, where: str = "") -> str | None:
    """The first place where two values differ, in words; None where they are the same."""
    if isinstance(cached, np.ndarray) and isinstance(fresh, np.ndarray):
        return difference(cached.tolist(), fresh.tolist(), where)
    if isinstance(cached, dict) and isinstance(fresh, dict) and cached.keys() == fresh.keys():
        return _first((cached[name], fresh[name], f"{where}.{name}") for name in cached)
    if isinstance(cached, list) and isinstance(fresh, list):
        if len(cached) != len(fresh):
            return f"{_place(where)}{len(cached)} values in the cache, {len(fresh)} when computed anew"
        pairs = enumerate(zip(cached, fresh, strict=True))
        return _first((old, new, f"{where}[{place}]") for place, (old, new) in pairs)
    if _same(cached, fresh):
        return None
    return f"{_place(where)}{cached!r:.80} in the cache, {fresh!r:.80} when computed anew"


def _first(pairs: Iterable[tuple[Any, Any, str]]) -> str | None:
    return next((found for old, new, where in pairs if (found := difference(old, new, where))), None)


def _place(where: str) -> str:
    return f"{where.lstrip('.')}: " if where else ""


def _same(cached: Any, fresh: Any) -> bool:
    if isinstance(cached, float) and isinstance(fresh, float):
        return cached == fresh or abs(cached - fresh) <= TOLERANCE or (math.isnan(cached) and math.isnan(fresh))
    return type(cached) is type(fresh) and bool(cached == fresh)
