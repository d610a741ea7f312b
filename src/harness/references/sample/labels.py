"""What a careful person would label in a composed photo, derived from what is visible.

A bib is `bib` with at least 97 % of its plate and all its digits in view, `bib_clipped` while every digit
keeps 90 %, else `bib_obscured` with `?` for each hidden digit; below a tenth of the plate there is no label.
Digits too small or too soft to read are hidden ones. A face in view by 60 % is `keep` unless it is too small
or too soft to make out, by 20 % `uncertain`, below that unlabelled. Strangers who were in a picture are
`exclude`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.references.files import (
    BibLabels,
    BibPhotoTag,
    BibRecord,
    FaceBoxTag,
    FaceLabels,
    FacePhotoTag,
    FaceRecord,
)
from harness.references.sample.compose import Composed, Person
from harness.references.sample.runners import RUNNERS, identity
from harness.references.sample.scenes import Scene
from harness.types import BibScope, FaceScope

WHOLE_PLATE, WHOLE_DIGIT, SEEN_PLATE = 0.97, 0.90, 0.10
SMALLEST_DIGIT = 9.0  # pixels
SOFTEST_DIGIT = 0.19  # blur as a share of the digit's height
SEEN_FACE, GUESSED_FACE = 0.60, 0.20
SOFTEST_FACE = 0.1  # blur as a share of the face's height
TINY_FACE, SMALLEST_FACE = 24.0, 10.0  # pixels


@dataclass(frozen=True, slots=True)
class SceneLabels:
    """The labels of one photo; links are positions in the two box lists."""

    bibs: BibLabels
    faces: FaceLabels
    links: list[tuple[int, int]]


def label(scene: Scene, photo: Composed) -> SceneLabels:
    """Label one photo, persons from far to near."""
    bibs: list[BibRecord] = []
    faces: list[FaceRecord] = []
    links: list[tuple[int, int]] = []
    for person in photo.people:
        bib, face = _bib(scene, person), _face(scene, person)
        if bib is not None and face is not None:
            links.append((len(bibs), len(faces)))
        bibs += [bib] if bib else []
        faces += [face] if face else []
    for rectangle in scene.strangers:
        faces.append(FaceRecord(**_unit(scene, rectangle), scope=FaceScope.EXCLUDE, tags=["tiny", "blurry"]))
    for rectangle in photo.rejected:
        bibs.append(BibRecord(**_unit(scene, rectangle), scope=BibScope.NOT_BIB))
    bib_tags, face_tags = _bib_tags(scene, photo, bibs), _face_tags(scene, faces)
    return SceneLabels(
        BibLabels(labeled=True, boxes=bibs, tags=bib_tags),
        FaceLabels(labeled=True, boxes=faces, tags=face_tags),
        links,
    )


def _bib(scene: Scene, person: Person) -> BibRecord | None:
    if person.plate is None or person.plate.share < SEEN_PLATE:
        return None
    bounds = person.plate.bounds()
    if bounds is None:
        return None
    unreadable = _unreadable(person)
    number = "".join(
        "?" if unreadable or part.share < WHOLE_DIGIT else digit
        for digit, part in zip(RUNNERS[person.figure.person].number, person.digits, strict=True)
    )
    if "?" in number:
        scope = BibScope.BIB_OBSCURED
    elif person.plate.share < WHOLE_PLATE:
        scope = BibScope.BIB_CLIPPED
    else:
        scope = BibScope.BIB
    return BibRecord(**_unit(scene, bounds), number=number, scope=scope)


def _face(scene: Scene, person: Person) -> FaceRecord | None:
    share, height = person.face.share, person.face_box[3]
    if share < GUESSED_FACE:
        return None
    tags: list[FaceBoxTag] = []
    if height < TINY_FACE:
        tags.append("tiny")
    if person.softness > 0.05 * height:
        tags.append("blurry")
    if share < 0.9:
        tags.append("occluded")
    clear = share >= SEEN_FACE and height >= SMALLEST_FACE and person.softness < SOFTEST_FACE * height
    return FaceRecord(
        **_unit(scene, person.face_box),
        scope=FaceScope.KEEP if clear else FaceScope.UNCERTAIN,
        identity=identity(person.figure.person),
        tags=tags,
    )


def _unreadable(person: Person) -> bool:
    return person.digit_height < SMALLEST_DIGIT or person.softness > SOFTEST_DIGIT * person.digit_height


def _bib_tags(scene: Scene, photo: Composed, bibs: list[BibRecord]) -> list[BibPhotoTag]:
    scopes = {bib.scope for bib in bibs} - {BibScope.NOT_BIB}
    soft = any(person.plate and person.softness > 0.1 * person.digit_height for person in photo.people)
    tags: dict[BibPhotoTag, bool] = {
        "obscured_bib": BibScope.BIB_OBSCURED in scopes,
        "dark_bib": bool(scopes) and scene.exposure < 0.6,
        "no_bib": not scopes,
        "blurry_bib": bool(scopes) and soft,
        "partial_bib": BibScope.BIB_CLIPPED in scopes,
        "light_bib": bool(scopes) and scene.exposure > 1.3,
        "other_banners": bool(scene.signs),
    }
    return [tag for tag, applies in tags.items() if applies]


def _face_tags(scene: Scene, faces: list[FaceRecord]) -> list[FacePhotoTag]:
    if not faces:
        return ["no_faces"]
    return ["light_faces"] if scene.exposure > 1.3 else []


def _unit(scene: Scene, rectangle: tuple[float, float, float, float]) -> dict[str, Any]:
    """A rectangle clipped to the photo and normalised to it."""
    width, height = scene.size
    x, y, w, h = rectangle
    left, top = min(max(x, 0.0), width), min(max(y, 0.0), height)
    right, bottom = min(max(x + w, left), width), min(max(y + h, top), height)
    return {
        "x": round(left / width, 6),
        "y": round(top / height, 6),
        "w": round((right - left) / width, 6),
        "h": round((bottom - top) / height, 6),
    }
