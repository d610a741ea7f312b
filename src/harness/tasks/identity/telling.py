"""What came of a search, in words and for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.base.texts import counted, one_line
from harness.scoring.answering import FoundPhoto, Near, Threshold
from harness.tasks.identity.finder import Found
from harness.types import Box


def short(similarity: float) -> str:
    """A similarity with two digits: .71, 1.00, -.05."""
    text = f"{similarity:.2f}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def reasons(found: FoundPhoto, numbers: Sequence[str]) -> str:
    """Why a photo came back: `face .71; number read 1234; linked .80`."""
    told = [f"face {short(found.face)}"] if found.face is not None else []
    told += [f"number read {number}" for number in found.numbers]
    if found.linked is not None:
        told.append(f"linked to {', '.join(numbers)}: {short(found.linked)}")
    return "; ".join(told)


def headline(found: Found) -> str:
    """How many photos came back, or that nobody was found."""
    gallery, photos = found.gallery, len(found.answer.photos)
    among = f"{counted(len(gallery.photos), 'photo')} of {gallery.references.name}"
    return f"Found in {photos:,} of {among}" if photos else f"Nobody found in {among}"


def notes(found: Found) -> list[str]:
    """Which face and which number were searched with, and at which threshold."""
    threshold = found.gallery.threshold
    told = [*_selfie(found), *_number(found)]
    if any(each.linked is not None for each in found.answer.photos):
        with_picture = "your picture and " if found.query.selfie else ""
        told.append(f"Linked: how similar a face is to the average of {with_picture}the faces linked to the number.")
    return [*told, threshold_words(threshold)] if threshold.exists else told


def _selfie(found: Found) -> list[str]:
    seen, name = found.query.selfie, found.query.name
    if seen is None:
        return []
    several = f"{counted(seen.faces, 'face')} in {name}; the largest is searched with" if seen.faces > 1 else ""
    taken = several or f"One face in {name} is searched with"
    return [f"{taken}, {seen.height:.0f} pixels high, against {counted(found.gallery.faces, 'face')}."]


def _number(found: Found) -> list[str]:
    numbers = ", ".join(found.answer.numbers)
    if found.query.number is not None:
        reading = sum(bool(each.numbers) for each in found.answer.photos)
        return [f"Number {numbers} was read in {counted(reading, 'photo') if reading else 'no photo'}."]
    if numbers:
        return [f"Most of the similar faces are linked to the number {numbers}, which was searched for as well."]
    return []


def threshold_words(threshold: Threshold) -> str:
    """The threshold, what it was set by, and how much that is worth."""
    if threshold.source == "none":
        return (
            "There is no threshold: nobody is labelled in these photos, and no photo has two faces that could set one. "
            "No face makes a photo come back."
        )
    at, n = f"Threshold {short(threshold.value)}", f"{threshold.rests_on:,}"
    if threshold.source == "photos":
        pairs = "pair" if threshold.rests_on == 1 else "pairs"
        return (
            f"{at}: just above the most similar two faces of one photo, which are two people ({n} {pairs}). Nobody is "
            "labelled who could search as a stranger, so that it is not known how often a stranger is shown somebody."
        )
    searches = "search" if threshold.rests_on == 1 else "searches"
    told = (
        f"{at}, set by the labels of these photos: of people who are in no photo, a share of {threshold.fpir:g} may be "
        f"shown somebody (FPIR). It rests on {n} {searches} by such people"
    )
    return f"{told}." if threshold.measurable else f"{told}; so few cannot show a share below 1/{n}."


def warnings(found: Found) -> list[str]:
    """What makes the answer less than it should be."""
    gallery = found.gallery
    told = [] if gallery.threshold.exists else [threshold_words(gallery.threshold)]
    if gallery.failed:
        told.append(f"{counted(len(gallery.failed), 'photo')} could not be searched: {_first(gallery.failed)}")
    return told


def _first(failed: Mapping[str, str]) -> str:
    name, reason = next(iter(failed.items()))
    more = f" and {len(failed) - 1:,} more" if len(failed) > 1 else ""
    return f"{one_line(name)} ({reason}){more}"


def as_json(found: Found, most: int) -> dict[str, Any]:
    """The answer for programs; at most so many photos, 0 for all. Similarities have six digits; there is no vector."""
    gallery, query, threshold = found.gallery, found.query, found.gallery.threshold
    end = most or None
    return {
        "found": bool(found.answer.photos),
        "total": len(found.answer.photos),
        "photos": [_photo(found, each) for each in found.answer.photos[:end]],
        "nearest": [_near(found, each) for each in found.answer.nearest[:end]],
        "query": {
            "selfie": None
            if query.selfie is None
            else {
                "file": query.name,
                "faces": query.selfie.faces,
                "height": round(query.selfie.height, 1),
                "box": _box(query.selfie.face),
            },
            "number": query.number,
        },
        "numbers": list(found.answer.numbers),
        "threshold": {
            "value": round(threshold.value, 6) if threshold.exists else None,
            "source": threshold.source,
            "rests_on": threshold.rests_on,
            "fpir": threshold.fpir,
            "measurable": threshold.measurable,
        },
        "set": {
            "name": gallery.references.name,
            "split": gallery.references.split,
            "root": str(gallery.references.root),
            "digest": gallery.references.digest,
            "photos": len(gallery.photos),
            "faces": gallery.faces,
            "failed": dict(gallery.failed),
        },
        "notes": notes(found),
        "warnings": warnings(found),
    }


def _photo(found: Found, each: FoundPhoto) -> dict[str, Any]:
    photo = found.photo(each.photo)
    why: list[dict[str, Any]] = []
    if each.face is not None:
        why.append({"kind": "face", "similarity": round(each.face, 6)})
    why += [{"kind": "number", "number": number} for number in each.numbers]
    if each.linked is not None:
        why.append({"kind": "linked", "similarity": round(each.linked, 6), "numbers": list(found.answer.numbers)})
    return {
        "name": photo.name,
        "sha256": photo.sha256,
        "path": str(photo.path),
        "face": None if each.at is None else _box(found.gallery.face(each.at)),
        "reasons": why,
        "words": reasons(each, found.answer.numbers),
    }


def _near(found: Found, each: Near) -> dict[str, Any]:
    photo = found.photo(each.photo)
    return {
        "name": photo.name,
        "sha256": photo.sha256,
        "path": str(photo.path),
        "face": _box(found.gallery.face(each.at)),
        "similarity": round(each.similarity, 6),
    }


def _box(box: Box) -> list[float]:
    return [round(value, 6) for value in box.xywh]
