"""The part of a report about people: who finds their photos and why not, who is shown strangers, who is split."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from markupsafe import Markup

from harness.pipeline.cache import StageCache
from harness.report.canvas import write_pictures
from harness.report.html import Inlined, render
from harness.runs.plan import Showing, Shown
from harness.scoring.boxes import Ints
from harness.scoring.finding import CAUSES, MEANINGS, Missed
from harness.scoring.people import NOBODY, UNKNOWN, Evidence
from harness.tasks.identity.figures import identity_figures
from harness.tasks.identity.gathering import SeenPhoto
from harness.tasks.identity.scores import Grouped, IdentityScores
from harness.tasks.photos.shots import PhotoPictures, ReadPhoto
from harness.types import Box, FaceBox

#: How many photos and rows of each kind are shown; the others are counted.
MOST_MISSED, MOST_STRANGERS, MOST_ROWS, MOST_IN_ROW, MOST_OTHERS = 24, 12, 12, 16, 4
#: Bytes of pictures in this part: the photos' part has its own.
ROOM = 2_500_000


@dataclass
class Album:
    """Faces cut out of photos: asked for first, then read, each photo once."""

    photos: Sequence[SeenPhoto]
    evidence: Evidence
    wanted: dict[str, list[Box]] = field(default_factory=lambda: defaultdict(list))
    pictures: PhotoPictures | None = None
    inlined: Inlined = field(default_factory=lambda: Inlined(ROOM))

    def face(self, row: int) -> tuple[int, FaceBox]:
        """The photo and the box of a found face."""
        faces = self.evidence.faces
        photo = int(faces.photo[row])
        return photo, self.photos[photo].prediction.faces[row - int(np.searchsorted(faces.photo, photo))]

    def ask(self, photo: int, box: Box | None) -> None:
        """This part of a photo will be shown."""
        if box is not None:
            self.wanted[self.photos[photo].photo.sha256].append(box)

    def open(self, read_photo: ReadPhoto, kept: StageCache | None) -> None:
        """All is asked for that will be shown."""
        asked = [item.photo for item in self.photos if item.photo.sha256 in self.wanted]
        self.pictures = PhotoPictures(asked, self.wanted, read_photo, kept)

    def show(self, photo: int, box: Box | None) -> str | None:
        """The part as an address; None where it cannot be read or does not fit any more."""
        sha256 = self.photos[photo].photo.sha256
        if self.pictures is None or box is None or box not in self.wanted[sha256]:
            return None
        part = self.pictures.part(sha256, box)
        return self.inlined.jpeg(part) if part else None


def show_identity(
    showing: Showing,
    photos: Sequence[SeenPhoto],
    evidence: Evidence,
    scores: IdentityScores,
    grouped: Grouped,
    read_photo: ReadPhoto,
    kept: StageCache | None = None,
) -> Shown:
    """Write the figures into the folder, and make the part of the report. `kept` has pictures that were made before."""
    album = Album(photos, evidence)
    missed = [(item, _place(item, album)) for item in _worst(scores.find.missed)[:MOST_MISSED]]
    strangers = [
        (item, album.face(item.face)[1] if item.face is not None else None)
        for item in scores.find.strangers[:MOST_STRANGERS]
    ]
    rows = _disordered(evidence, grouped)
    for photo, box in [(item.photo, box) for item, box in missed] + [(item.photo, box) for item, box in strangers]:
        album.ask(photo, box)
    for row in rows[:MOST_ROWS]:
        for face in row.shown:
            album.ask(*album.face(face))
    album.open(read_photo, kept)
    point = scores.operating
    figures = identity_figures(
        scores.verify.histogram,
        scores.selfie.curve,
        {"searches from": point.whole, "clusters from": scores.grouping.whole},
        point.target,
    )
    write_pictures(showing.folder, figures)
    html = render(
        "people.html",
        headline=scores.headline,
        operating=scores.operating_words,
        grouping=scores.grouping_words,
        causes=list(_causes(scores)),
        missed=[_missed(item, box, album, scores) for item, box in missed],
        missed_total=len(scores.find.missed),
        strangers=[
            {
                "image": album.show(item.photo, box),
                "photo": evidence.photos.names[item.photo],
                "person": evidence.people[item.person].name,
                "words": "by a number alone" if item.score is None else f"similarity {item.score:.2f}",
                "shows": _shown_there(evidence, item.face),
            }
            for item, box in strangers
        ],
        strangers_total=len(scores.find.others),
        rows=[_row(row, album) for row in rows[:MOST_ROWS]],
        rows_left_out=max(0, len(rows) - MOST_ROWS),
        clustered=bool((evidence.faces.person[grouped.clusters >= 0] >= 0).any()),
        figures={figure.name: Markup(figure.svg) for figure in figures},  # made and escaped here
    )
    return Shown(html)


def _shown_there(evidence: Evidence, face: int | None) -> str:
    """Whose the face is that came back; "" where that is not known."""
    person = UNKNOWN if face is None else int(evidence.faces.person[face])
    return evidence.people[person].name if person >= 0 else "somebody without a name" if person == NOBODY else ""


def _worst(missed: Sequence[Missed]) -> list[Missed]:
    """Those that come back least, and of these the nearest misses first."""
    return sorted(missed, key=lambda item: (-item.share, -(item.score if item.score is not None else -2.0)))


def _place(item: Missed, album: Album) -> Box | None:
    """Where the runner is in a photo that they miss: their labelled face, else their bib, else the found faces."""
    photo = album.photos[item.photo].photo
    seen = album.evidence.appearances
    (row,) = np.flatnonzero((seen.person == item.person) & (seen.photo == item.photo))[:1]
    if seen.face[row] >= 0:
        return album.face(int(seen.face[row]))[1]
    name, numbers = (getattr(album.evidence.people[item.person], part) for part in ("name", "numbers"))
    labelled: list[Box] = [box for box in photo.faces if box.identity == name]
    labelled += [box for box in photo.bibs if box.number and box.number.strip() in numbers]
    labelled += album.photos[item.photo].prediction.faces
    return next((box for box in labelled if box.has_coords), None)


def _missed(item: Missed, box: Box | None, album: Album, scores: IdentityScores) -> dict[str, Any]:
    threshold = scores.operating.by_person(album.evidence.folds)[item.person]
    words = [item.cause.replace("_", " ")]
    if item.score is not None and np.isfinite(threshold):
        words.append(f"similarity {item.score:.2f}, {threshold:.2f} needed")
    if item.share < 1:
        words.append(f"missed by {item.share:.0%} of the searches")
    return {
        "image": album.show(item.photo, box),
        "photo": album.evidence.photos.names[item.photo],
        "person": album.evidence.people[item.person].name,
        "words": ", ".join(words),
    }


def _causes(scores: IdentityScores) -> Iterator[dict[str, str]]:
    counts = scores.find.counted().counts
    total = sum(counts[cause] for cause in CAUSES)
    for cause in sorted(CAUSES, key=lambda cause: -counts[cause]):
        if count := counts[cause]:
            yield {
                "name": cause.replace("_", " "),
                "count": f"{count:.1f}",
                "share": f"{count / total:.0%}",
                "meaning": MEANINGS[cause],
            }


@dataclass(frozen=True)
class _Disorder:
    """A person whose faces are in several clusters, or with others; their faces by cluster, and a face of each of the
    others there."""

    person: int
    by_cluster: Mapping[int, tuple[int, ...]]
    others: Mapping[int, Mapping[str, int]]

    @property
    def own(self) -> list[int]:
        """Those of their faces that are shown."""
        return [face for faces in self.by_cluster.values() for face in faces][:MOST_IN_ROW]

    def strange(self, cluster: int) -> list[int]:
        """The faces of others that are shown."""
        return list(self.others[cluster].values())[:MOST_OTHERS]

    @property
    def shown(self) -> list[int]:
        """All faces that are shown."""
        return [*self.own, *(face for cluster in self.by_cluster for face in self.strange(cluster))]


def _disordered(evidence: Evidence, grouped: Grouped) -> list[_Disorder]:
    """People who are split or merged in the clusters that they are judged by, those with most faces first."""
    found: list[_Disorder] = []
    for fold, clusters in enumerate(grouped.by_fold):
        found += _disordered_of(evidence, clusters, np.flatnonzero(evidence.folds == fold))
    return sorted(found, key=lambda item: (-sum(map(len, item.by_cluster.values())), item.person))


def _disordered_of(evidence: Evidence, clusters: Ints, people: Ints) -> Iterator[_Disorder]:
    person = evidence.faces.person
    members: dict[int, dict[int, int]] = defaultdict(dict)
    own: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for face in np.flatnonzero((person >= 0) & (clusters >= 0)).tolist():
        members[int(clusters[face])].setdefault(int(person[face]), face)
        own[int(person[face])][int(clusters[face])].append(face)
    for who in own.keys() & set(people.tolist()):
        parts = own[who]
        others = {
            cluster: dict(
                sorted((evidence.people[other].name, face) for other, face in members[cluster].items() if other != who)
            )
            for cluster in parts
        }
        if len(parts) > 1 or any(others.values()):
            ordered = dict(sorted(parts.items(), key=lambda item: (-len(item[1]), item[0])))
            yield _Disorder(who, {cluster: tuple(faces) for cluster, faces in ordered.items()}, others)


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_OTHERS} more" if len(names) > MOST_OTHERS else ""
    return ", ".join(names[:MOST_OTHERS]) + more


def _row(row: _Disorder, album: Album) -> dict[str, Any]:
    shown = set(row.own)
    faces = sum(map(len, row.by_cluster.values()))
    words = f"{faces} faces in {len(row.by_cluster)} clusters" if len(row.by_cluster) > 1 else f"{faces} faces"
    return {
        "person": album.evidence.people[row.person].name,
        "words": words if len(shown) == faces else f"{words}, {len(shown)} shown",
        "clusters": [
            {
                "images": [album.show(*album.face(face)) for face in own if face in shown],
                "strange": [album.show(*album.face(face)) for face in row.strange(cluster)],
                "others": _names(list(row.others[cluster])),
            }
            for cluster, own in row.by_cluster.items()
            if shown & set(own)
        ],
    }
