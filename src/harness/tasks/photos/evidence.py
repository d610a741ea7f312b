"""What whoever reads the scorecards has to know about photos and labels: which photos belong together, and how many of
the labels were made by the very model that they judge.

For example, a detector whose suggestions were accepted unedited as 80 % of the labels is right on these by
construction; a better one could only lose against it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.base.objects import dotted_name
from harness.base.texts import COMMAND, counted
from harness.pipeline import Pipeline
from harness.pipeline.weights import models_of
from harness.references.files import BoxOrigin
from harness.references.groups import GroupSummary
from harness.references.sets import ReferencePhoto, ReferenceSet
from harness.references.suggestions import models_line
from harness.scoring import bibs as bib_rules
from harness.scoring import faces as face_rules
from harness.types import BibBox, FaceBox

#: From here on, a share of labels that the judged model has made is told in words.
MOST = 0.5

#: `bibs` or `faces` -> backend and models, as suggestions name them.
MadeBy = Mapping[str, tuple[str, str]]


def made_by(pipeline: Pipeline) -> MadeBy:
    """What makes a pipeline's predictions, in the words of suggestions."""
    stages = {"bibs": pipeline.bib, "faces": pipeline.face}
    return {
        what: (dotted_name(type(stage)), models_line({model.name: model.sha256 for model in models_of(stage)}))
        for what, stage in stages.items()
    }


@dataclass(frozen=True)
class Accepted:
    """How many of the labels that are scored are suggestions of the judged model, accepted as they were."""

    targets: int
    accepted: int

    @property
    def share(self) -> float:
        """Of all targets."""
        return self.accepted / self.targets if self.targets else 0.0


def accepted(photos: Sequence[ReferencePhoto], model: MadeBy) -> dict[str, Accepted]:
    """`bibs` and `faces` -> how many targets the judged model has made; only what it has made any of."""
    bibs = [pair for photo in photos if photo.bib_labeled for pair in zip(photo.bibs, photo.bib_origins, strict=False)]
    faces = [
        pair for photo in photos if photo.face_labeled for pair in zip(photo.faces, photo.face_origins, strict=False)
    ]
    found = {}
    if "bibs" in model:
        found["bibs"] = _accepted(bibs, bib_rules.SCORED, model["bibs"])
    if "faces" in model:
        found["faces"] = _accepted(faces, face_rules.SCORED, model["faces"])
    return {what: share for what, share in found.items() if share.accepted}


def _accepted(
    boxes: Iterable[tuple[BibBox | FaceBox, BoxOrigin | None]], scored: frozenset[str], model: tuple[str, str]
) -> Accepted:
    targets = [origin for box, origin in boxes if box.scope in scored]
    return Accepted(len(targets), sum(_is_by(origin, model) for origin in targets))


def _is_by(origin: BoxOrigin | None, model: tuple[str, str]) -> bool:
    if origin is None or origin.how != "accepted" or origin.suggestion is None:
        return False
    return (origin.suggestion.backend, origin.suggestion.model) == model


def evidence_key(references: ReferenceSet, shares: Mapping[str, Accepted]) -> str:
    """A digest of what the result depends on beside the labels themselves: intervals and verdicts go by groups."""
    groups = sorted((photo.sha256, photo.group) for photo in references.photos)
    told = [references.groups.words(), references.groups.broken] if references.groups else []
    made = {what: [share.targets, share.accepted] for what, share in shares.items()}
    return hashlib.sha256(json.dumps([groups, told, made], sort_keys=True).encode()).hexdigest()


def notes(groups: GroupSummary | None, shares: Mapping[str, Accepted]) -> Iterator[str]:
    """What is to be told under the scorecards."""
    if groups is not None:
        yield groups.words()
        if groups.broken:
            has = "has" if groups.broken == 1 else "have"
            yield (
                f"{counted(groups.broken, 'group')} {has} photos in both splits, so that iteration and holdout are not "
                f"independent; `{COMMAND} split --by-group` mends staging."
            )
    for what, share in shares.items():
        if share.share > MOST:
            yield (
                f"{share.share:.0%} of the labelled {what} ({share.accepted:,} of {share.targets:,}) are suggestions "
                "of this very model that were accepted unedited: it is judged by its own answers."
            )


def tags(groups: GroupSummary | None, shares: Mapping[str, Accepted]) -> dict[str, str]:
    """The same as tags of a run."""
    found = {f"labels.accepted_share.{what}": f"{share.share:.3f}" for what, share in shares.items()}
    if groups is None:
        return found
    found |= {"groups": str(groups.groups), "groups.cut": str(groups.cut)}
    return found | ({"groups.broken": str(groups.broken)} if groups.broken else {})
