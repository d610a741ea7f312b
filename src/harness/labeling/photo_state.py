"""One photo as an editor needs it: labels, ghosts, suggested links, how far it is, and the revision for a save."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from harness.labeling.answers import CompletenessOut, GhostBibOut, GhostFaceOut, Ghosts, Photo, SuspectOut
from harness.labeling.ghosts import is_answered
from harness.labeling.source import LabelSource
from harness.labeling.summary import left_open
from harness.pipeline.stages import Linker
from harness.references.completeness import Completeness, completeness
from harness.references.files import LinkPairs
from harness.references.labels import PhotoView, view_in
from harness.references.revisions import Revisions
from harness.references.suggestions import StageProvenance, Suggestions
from harness.runs.suspects import Suspect
from harness.types import BibScope, FaceScope

_REVISION = re.compile(r'"([0-9]{1,16})\.([0-9]{1,16})\.([0-9]{1,16})\.([0-9]{1,16})"')


def photo_state(
    source: LabelSource, linker: Linker, suspects: Sequence[Suspect], known: Mapping[str, str], sha256: str
) -> Photo:
    """A photo as of now; `known` says whose number it is. Raises UnknownPhotoError for one that is not in the set."""
    contents = source.contents()
    seen = view_in(contents, source.root, sha256)
    done, ghosts = completeness(contents, sha256), _ghosts(seen, source.suggestions())
    numbers = [*(ghost.number for ghost in ghosts.bibs), *(box.number for box in seen.bibs.boxes)]
    return Photo(
        sha256=sha256,
        name=seen.record.names[0],
        names=seen.record.names,
        width=seen.record.width,
        height=seen.record.height,
        split=seen.record.split,
        revision=revision_text(seen.revisions),
        bibs=seen.bibs.bare(),
        faces=seen.faces.bare(),
        links=seen.links,
        links_labeled=seen.links is not None and not seen.record.links_open,
        suggested_links=suggested_links(seen, linker),
        ghosts=ghosts,
        completeness=CompletenessOut(
            bibs=done.bibs,
            faces=done.faces,
            links=done.links,
            state=done.state,
            left_open=_left_open(done, seen, ghosts),
        ),
        suspects=[SuspectOut.of(suspect) for suspect in suspects],
        names_by_number={number: known[number] for number in numbers if number and number in known},
    )


def _left_open(done: Completeness, seen: PhotoView, ghosts: Ghosts) -> list[str]:
    bibs, faces = (sum(not ghost.answered for ghost in found) for found in (ghosts.bibs, ghosts.faces))
    left = (0 if seen.bibs.labeled else bibs, 0 if seen.faces.labeled else faces)
    return list(left_open(done, seen.bibs, seen.faces, seen.links is not None, *left))


def suggested_links(seen: PhotoView, linker: Linker) -> LinkPairs:
    """What the pipeline's linker makes of the labelled boxes; what is no bib and no face takes no part."""
    bibs = [(n, box.box()) for n, box in enumerate(seen.bibs.boxes) if box.scope != BibScope.NOT_BIB]
    faces = [(n, box.box()) for n, box in enumerate(seen.faces.boxes) if box.scope != FaceScope.EXCLUDE]
    bibs, faces = [item for item in bibs if item[1].has_coords], [item for item in faces if item[1].has_coords]
    aspect = seen.record.width / seen.record.height
    links = linker.link([box for _, box in bibs], [box for _, box in faces], aspect)
    return [(bibs[link.bib_index][0], faces[link.face_index][0]) for link in links]


def revision_text(revisions: Revisions) -> str:
    """Revisions as one opaque word."""
    return f"{revisions.index}.{revisions.bibs}.{revisions.faces}.{revisions.links}"


def parse_etag(etag: str) -> Revisions | None:
    """The revisions that an `If-Match` names, or None where it names none of ours."""
    found = _REVISION.fullmatch(etag.strip())
    return Revisions(*map(int, found.groups())) if found else None


def _ghosts(seen: PhotoView, suggestions: Suggestions) -> Ghosts:
    record = suggestions.photos.get(seen.sha256)
    if record is None:
        return Ghosts()
    made_by = suggestions.provenances.get(record.provenance)
    return Ghosts(
        bibs=[GhostBibOut(**ghost.model_dump(), answered=is_answered(ghost, seen.bibs.boxes)) for ghost in record.bibs],
        faces=[
            GhostFaceOut(**ghost.model_dump(), answered=is_answered(ghost, seen.faces.boxes)) for ghost in record.faces
        ],
        links=record.links,
        provenance={"bibs": _spoken(made_by.bib), "faces": _spoken(made_by.face)} if made_by else {},
    )


def _spoken(stage: StageProvenance) -> str:
    """`RapidOcrBibs, harness 0.2.0`."""
    return f"{stage.backend.rpartition('.')[2]}, {stage.version}"
