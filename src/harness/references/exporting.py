"""A reference set as COCO: `annotations.json`, `images/` and `selfies/`, which `harness import --format coco` reads
back unchanged.

Boxes are in pixels. What COCO has no field for stands in `attributes` and under `harness`; other tools pass it over.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from pydantic import Field

from harness.base.disk import write_atomically
from harness.base.errors import ReferenceSetError
from harness.base.progress import track
from harness.references.contents import Contents
from harness.references.fields import Flag, Identity, People
from harness.references.files import (
    BibPhotoTag,
    BoxRecord,
    FacePhotoTag,
    LinkPairs,
    PhotoRecord,
    Record,
)
from harness.references.photo_files import SELFIES, stored_photos

#: The file of a selfie, which may lie nowhere else.
SelfieName = Annotated[str, Field(pattern=r"^[0-9a-f]{64}\.[A-Za-z0-9]{1,8}$")]

_CATEGORIES = {"bib": 1, "face": 2}


class Identities(Record):
    """The identities of a set, as they travel in a COCO file."""

    names: list[str]
    must_link: list[list[str]]
    cannot_link: list[list[str]]
    identities_labeled: Flag | None = None


class BibExtension(Record):
    """What COCO has no place for about the bibs of a photo."""

    labeled: Flag
    tags: list[BibPhotoTag]


class FaceExtension(Record):
    """What COCO has no place for about the faces of a photo."""

    labeled: Flag
    tags: list[FacePhotoTag]
    people: People | None = None


class ImageExtension(Record):
    """What COCO has no place for about a photo; None where it was never labelled."""

    names: list[str]
    split: Literal["iteration", "holdout"]
    added_at: str
    bibs: BibExtension | None
    faces: FaceExtension | None
    links: LinkPairs | None
    group: str | None = None
    links_open: Flag | None = None


class FileExtension(Record):
    """What COCO has no place for about a set. `selfies` has the owner of each file in `selfies/`."""

    identities: Identities
    selfies: dict[SelfieName, Identity] = Field(default_factory=dict)


def export_coco(contents: Contents, root: Path, target: Path) -> dict[str, int]:
    """Write the set into a new folder; returns how many photos, bibs, faces and links it has, and selfies if any."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ReferenceSetError(f"{target}: is not an empty folder; name a new one")
    stored, selfies = stored_photos(root), stored_photos(root, SELFIES)
    missing = [record.names[0] for sha256, record in contents.index.photos.items() if sha256 not in stored]
    if missing:
        raise ReferenceSetError(f"{root}: {len(missing)} photos of the index are not in photos/, first {missing[0]}")
    if lost := [owner for sha256, owner in contents.selfies.photos.items() if sha256 not in selfies]:
        raise ReferenceSetError(f"{root}: {len(lost)} of the selfies are not in selfies/, first one of {lost[0]}")
    names = _file_names(contents)
    (target / "images").mkdir(parents=True)
    for sha256 in track(list(names), "copying photos"):
        shutil.copyfile(stored[sha256], target / "images" / names[sha256])
    owners = {selfies[sha256].name: owner for sha256, owner in contents.selfies.photos.items()}
    for sha256 in contents.selfies.photos:
        (target / SELFIES).mkdir(exist_ok=True)
        shutil.copyfile(selfies[sha256], target / SELFIES / selfies[sha256].name)
    coco = to_coco(contents, names, owners)
    write_atomically(target / "annotations.json", orjson.dumps(coco, option=orjson.OPT_INDENT_2))
    links = sum(len(pairs) for photo, pairs in contents.links.photos.items() if photo in names)
    kinds = [annotation["category_id"] for annotation in coco["annotations"]]
    boxes = {f"{name}s": kinds.count(number) for name, number in _CATEGORIES.items()}
    return {"photos": len(names), **boxes, "links": links, **({"selfies": len(owners)} if owners else {})}


def to_coco(contents: Contents, names: dict[str, str], owners: dict[str, str] | None = None) -> dict[str, Any]:
    """The set as a COCO document; `names` has each photo's file name, `owners` whose each file in `selfies/` is."""
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for number, (sha256, record) in enumerate(contents.index.photos.items(), start=1):
        size = {"width": record.width, "height": record.height}
        extension = _extension(contents, sha256, record).model_dump(mode="json")
        images.append({"id": number, "file_name": names[sha256], **size, "harness": extension})
        for category, labels in (("bib", contents.bibs.photos), ("face", contents.faces.photos)):
            boxes = labels[sha256].boxes if sha256 in labels else []
            for box in boxes:
                annotations.append(_annotation(len(annotations) + 1, number, category, box, record))
    identities = Identities(**contents.identities.model_dump(include=set(Identities.model_fields)))
    return {
        "info": {"description": "reference set of the harness", "version": "1"},
        "images": images,
        "categories": [{"id": number, "name": name} for name, number in _CATEGORIES.items()],
        "annotations": annotations,
        "harness": FileExtension(identities=identities, selfies=owners or {}).model_dump(mode="json"),
    }


def _annotation(number: int, image: int, category: str, box: BoxRecord, record: PhotoRecord) -> dict[str, Any]:
    bbox = [box.x * record.width, box.y * record.height, box.w * record.width, box.h * record.height]
    return {
        "id": number,
        "image_id": image,
        "category_id": _CATEGORIES[category],
        "bbox": bbox,
        "area": bbox[2] * bbox[3],
        "iscrowd": 0,
        "attributes": box.model_dump(mode="json", exclude={"x", "y", "w", "h"}),
    }


def _extension(contents: Contents, sha256: str, record: PhotoRecord) -> ImageExtension:
    bibs, faces = contents.bibs.photos.get(sha256), contents.faces.photos.get(sha256)
    return ImageExtension(
        names=record.names,
        split=record.split,
        added_at=record.added_at,
        bibs=None if bibs is None else BibExtension(labeled=bibs.labeled, tags=bibs.tags),
        faces=None if faces is None else FaceExtension(labeled=faces.labeled, tags=faces.tags, people=faces.people),
        links=contents.links.photos.get(sha256),
        group=record.group,
        links_open=record.links_open,
    )


def _file_names(contents: Contents) -> dict[str, str]:
    """A name for each photo: its first own one, with its hash before it where others have it too."""
    used: set[str] = set()
    names = {}
    for sha256, record in contents.index.photos.items():
        name = Path(record.names[0]).name
        name = name if name.lower() not in used else f"{sha256[:16]}_{name}"
        used.add(name.lower())
        names[sha256] = name
    return names
