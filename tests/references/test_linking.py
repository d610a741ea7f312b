"""Links follow their boxes through any edit: what was linked stays linked as long as both boxes are there."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.references.files import BibLabels, BibRecord, FaceLabels, FaceRecord
from harness.references.labels import save_bibs, save_faces, view
from harness.references.linking import destinations
from tests.references.builders import bib, make_store, photo_hash

PHOTO = photo_hash(0)


def linked_boxes(
    bibs: list[BibRecord], faces: list[FaceRecord], links: list[tuple[int, int]]
) -> set[tuple[float, float]]:
    """The links by where their boxes are, which is what a person sees."""
    return {(bibs[b].x, faces[f].x) for b, f in links}


@settings(max_examples=60)
@given(st.data())
def test_links_follow_removal_reordering_and_drawing(data: st.DataObject) -> None:
    boxes = data.draw(st.integers(1, 6))
    with tempfile.TemporaryDirectory() as folder:
        store = make_store(Path(folder) / "set", photos=1, boxes=boxes)
        for _ in range(data.draw(st.integers(1, 4))):
            seen = view(store, PHOTO)
            links = seen.links or []
            before = linked_boxes(seen.bibs.boxes, seen.faces.boxes, links)
            of_bibs = data.draw(st.booleans())
            old = seen.bibs.boxes if of_bibs else seen.faces.boxes
            kept = data.draw(st.permutations(range(len(old)))) if old else []
            kept = kept[: data.draw(st.integers(0, len(kept)))]
            drawn = data.draw(st.integers(0, 2))
            origins = [*kept, *[None] * drawn]
            if of_bibs:
                new_bibs = [*(seen.bibs.boxes[n] for n in kept), *(bib(0.85 + n / 100) for n in range(drawn))]
                save_bibs(store, PHOTO, BibLabels(labeled=True, boxes=new_bibs), seen.revisions, origins)
            else:
                new_faces = [*(seen.faces.boxes[n] for n in kept), *(face_at(0.85 + n / 100) for n in range(drawn))]
                save_faces(store, PHOTO, FaceLabels(labeled=True, boxes=new_faces), seen.revisions, origins)
            after = view(store, PHOTO)
            there = {old[n].x for n in kept}
            expected = {pair for pair in before if pair[0 if of_bibs else 1] in there}
            assert linked_boxes(after.bibs.boxes, after.faces.boxes, after.links or []) == expected


def face_at(place: float) -> FaceRecord:
    return FaceRecord(x=place, y=0.1, w=0.1, h=0.1)


@given(
    st.lists(st.sampled_from([0.1, 0.2, 0.3]), max_size=5).flatmap(
        lambda old: st.tuples(st.just(old), st.permutations(old))
    )
)
def test_untold_reordering_is_followed_even_among_equal_boxes(places: tuple[list[float], list[float]]) -> None:
    old, new = ([bib(place) for place in side] for side in places)
    moved = destinations(old, new, None, range(len(old)))
    assert sorted(moved) == sorted(moved.values()) == list(range(len(old)))
    assert all(old[a].x == new[b].x for a, b in moved.items())
