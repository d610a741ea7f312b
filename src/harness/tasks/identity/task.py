"""The task of identity: a runner searches by selfie, by number and by both, and the labels say what should come back.

It evaluates what the task of photos found on the same photos; its items are people. The threshold of a search is set on
the set itself, so that of the searches by people who are in no photo no more than a share (`identity.fpir`) return
somebody. On a holdout it is taken from the iteration photos of the same set.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.base.errors import PhotoError
from harness.pipeline.identity.recognising import Recogniser
from harness.references.photos import open_photo, read_photo
from harness.references.sets import ReferenceSet
from harness.runs.archive import IDENTITY, TaskData, TaskRun
from harness.runs.items import FailedItem, Item, item_rows
from harness.runs.plan import Show, Showing, Shown, TaskResult
from harness.runs.returns import RETURNS_FILE, write_returns
from harness.scoring import Declaration, intervals
from harness.scoring.grouping_point import GroupingPoint
from harness.scoring.people import Evidence, Queries
from harness.scoring.searching import Operating, Search, operate
from harness.scoring.selfies import FPIRS
from harness.tasks.identity.gathering import SeenPhoto, SeenSelfie, gather, match_faces
from harness.tasks.identity.grouping import Grouping
from harness.tasks.identity.returned import returns_of
from harness.tasks.identity.roster import roster_of
from harness.tasks.identity.scores import DECLARED, IdentityScores, score
from harness.tasks.identity.section import show_identity
from harness.tasks.identity.selfies import selfie_face
from harness.tasks.photos.from_file import FilePhotosTask, unit
from harness.tasks.photos.predicting import EvaluatedPhoto
from harness.tasks.photos.prediction_export import Embeddings
from harness.tasks.photos.task import PhotosTask
from harness.types import Split


@dataclass(frozen=True)
class IdentityTask:
    """Who finds their photos, on the photos of another task and by what it predicts."""

    photos: PhotosTask | FilePhotosTask

    name = IDENTITY

    @property
    def recogniser(self) -> Recogniser:
        """What compares faces."""
        assert self.photos.recogniser is not None, "without one there is no such task"
        return self.photos.recogniser

    def declares(self) -> tuple[Declaration, ...]:
        """The four scorecards of identity."""
        return DECLARED

    def data(self) -> TaskData:
        """The reference set, selfies included."""
        return self.photos.data()

    def inputs(self) -> list[str]:
        """What the photos are worth, and the weights of the models."""
        return self.photos.inputs()

    def thresholds(self) -> Mapping[str, float]:
        """The task of photos has them."""
        return {}

    def tags(self) -> Mapping[str, str]:
        """The task of photos has the models with their licences."""
        return {}

    def load(self) -> None:
        """The task of photos opens the models."""

    def evaluate(self, folder: Path, seed: int, quiet: bool) -> TaskResult:  # noqa: ARG002 - a task's interface
        """Gather who is where, search, and count what comes back. What came back for whom is left in the folder."""
        photos = tuple(self.photos.predicted(quiet)[0])  # those that failed make the task of photos incomplete
        selfies, failed = self.selfies()
        evidence = self.evidence(self.photos.references, photos, selfies)
        search = Search(evidence, self.recogniser.gallery)
        *points, here = operate(search, (*FPIRS, self.recogniser.fpir))
        elsewhere = self._from_iteration()
        operating = elsewhere[0] if elsewhere else here
        seen = _seen(photos)
        grouping = self.grouping(self.photos.references, evidence, seen)
        grouped = grouping.at(elsewhere[1] if elsewhere else grouping.point(operating.whole))
        scores = score(search, operating, tuple(points), grouped)
        write_returns(folder / RETURNS_FILE, returns_of(evidence, seen, scores.find))

        def show(showing: Showing) -> Shown:
            kept = self.photos.opened_cache
            return show_identity(showing, seen, evidence, scores, grouped, read_photo, kept)

        return self._result(evidence, scores, failed, show)

    def _result(
        self, evidence: Evidence, scores: IdentityScores, failed: Sequence[FailedItem], show: Show
    ) -> TaskResult:
        people, cards = evidence.people, scores.cards
        counts = item_rows({name: card.by_item() for name, card in cards.items()}, len(people))
        sure = {metric: each for part in scores.parts for metric, each in part.sureness.items()}
        rates = {name: each for card in cards.values() for name, each in intervals(card, evidence.groups).items()}
        kept = TaskRun(
            data=self.data(),
            noun="person",
            items=tuple(
                Item(person.name, person.name, own, person.group) for person, own in zip(people, counts, strict=True)
            ),
            failed=tuple(failed),
            cards=scores.counted(),
            intervals=rates | {metric: each.interval for metric, each in sure.items()},
            slices=tuple(each for part in scores.parts for each in part.slices),
            left_out={metric: each.left_out for metric, each in sure.items() if each.left_out},
            stage_keys=dict.fromkeys(cards, keys["identity"]) if (keys := self.photos.stage_keys()) else {},
            headline=scores.headline,
            text="\n".join(
                filter(None, [scores.operating_words, scores.grouping_words, _thinned_words(evidence.queries)])
            ),
        )
        return TaskResult(
            kept=kept,
            predictions=_digest_of(evidence),
            metrics=scores.metrics,
            tags=scores.tags(self._model),
            show=show,
        )

    def evidence(
        self, references: ReferenceSet, photos: Sequence[EvaluatedPhoto], selfies: Sequence[SeenSelfie]
    ) -> Evidence:
        """Who is where in these photos, by their labels and by what was found in them."""
        grouped = references.groups is not None and references.groups.grouping == "auto"
        seen = _seen(photos)
        roster = roster_of(
            [item.photo for item in seen],
            (selfie.person for selfie in selfies),
            identities_labeled=references.identities_labeled,
            grouped=grouped,
        )
        scoring = self.photos.scoring
        return gather(roster, seen, selfies, scoring, identities_labeled=references.identities_labeled)

    def grouping(self, references: ReferenceSet, evidence: Evidence, seen: Sequence[SeenPhoto]) -> Grouping:
        """The faces of these photos, to be grouped."""
        matched = match_faces(seen, self.photos.scoring)
        return Grouping.of(evidence, seen, matched, references, self.recogniser.clustering)

    def selfies(self) -> tuple[list[SeenSelfie], list[FailedItem]]:
        """The selfies of the set as they are searched with, and those that cannot be read."""
        if isinstance(self.photos, FilePhotosTask):
            return list(_given_selfies(self.photos)), []
        found, failed = [], []
        for selfie in self.photos.references.selfies:
            try:
                photo = open_photo(selfie.path, selfie.sha256)
                seen = selfie_face(self.photos.pipeline, photo, self.photos.opened_cache)
            except PhotoError as error:
                failed.append(FailedItem(selfie.sha256, f"selfie of {selfie.identity}", str(error)))
            else:
                vector = seen.vector if seen else None
                found.append(SeenSelfie(selfie.identity, seen is not None, vector, selfie.sha256))
        return found, failed

    def embeddings(self) -> Embeddings:
        """The vectors of all faces and selfies, to be written where a person asks for them. Nothing else tells them."""
        photos, _ = self.photos.predicted()
        return Embeddings(
            {item.photo.sha256: item.vectors.rows() for item in _seen(photos)},
            {selfie.sha256: (selfie.found, selfie.vector) for selfie in self.selfies()[0]},
        )

    @property
    def _model(self) -> str:
        """What describes faces: the hashes of its weights, or the file that has the vectors."""
        if isinstance(self.photos, FilePhotosTask):
            return f"given by {self.photos.file.path.name}"
        return ", ".join(model.sha256 for model in self.recogniser.models)

    def _from_iteration(self) -> tuple[Operating, GroupingPoint] | None:
        """On a holdout, the thresholds of the iteration photos of the same set; None elsewhere."""
        source: Any = self.photos.source
        if self.photos.references.split != Split.HOLDOUT or not hasattr(source, "split"):
            return None
        iteration = replace(self.photos, source=replace(source, split=Split.ITERATION))
        other, references, words = IdentityTask(iteration), iteration.references, "set on the iteration photos"
        photos, _ = iteration.predicted()
        evidence = other.evidence(references, photos, other.selfies()[0])
        search = Search(evidence, self.recogniser.gallery)
        found = operate(search, (self.recogniser.fpir,))[0]
        strangers = int(np.count_nonzero(search.stranger_scores() > -np.inf))
        grouped = other.grouping(references, evidence, _seen(photos)).point(found.whole)
        source_words = words if grouped.people else f"{words}, {grouped.source}"
        return (
            Operating.fixed(found.target, found.whole, strangers, words),
            GroupingPoint.fixed(grouped.whole, source_words, grouped.people),
        )


def _given_selfies(photos: FilePhotosTask) -> Iterator[SeenSelfie]:
    """The selfies that a file of predictions has a line for; without a vector there was no face to search with."""
    given = photos.predictions.selfies
    for selfie in photos.references.selfies:
        if selfie.sha256 in given:
            vector = given[selfie.sha256]
            found = vector is not None or selfie.sha256 in photos.predictions.too_small
            yield SeenSelfie(selfie.identity, found, None if vector is None else unit(vector), selfie.sha256)


def _seen(photos: Sequence[EvaluatedPhoto]) -> list[SeenPhoto]:
    return [
        SeenPhoto(item.photo, item.prediction, item.vectors, item.size[1])
        for item in photos
        if item.vectors is not None
    ]


def _thinned_words(queries: Queries) -> str:
    """How many faces were searched by where that is not all of them; "" where it is."""
    if not queries.left_out:
        return ""
    faces = queries.left_out + len(queries)
    return f"People with very many faces search by some of them: of {faces} pictures, {queries.left_out} are left out."


def _digest_of(evidence: Evidence) -> str:
    """A digest of all that was predicted about people."""
    total = hashlib.sha256(evidence.faces.vectors.tobytes())
    total.update(evidence.queries.vectors.tobytes())
    total.update(repr((evidence.photos.read, evidence.faces.numbers)).encode())
    return total.hexdigest()
