"""The commands on reference sets as their user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli.stats import show_findings
from harness.references.cross_checks import Finding
from tests.conftest import RunHarness


def test_stats_in_words_and_as_json(run_harness: RunHarness, tiny_set: Path) -> None:
    root = f"references.root={tiny_set}"
    shown = run_harness("stats", root)
    assert shown.returncode == 0, shown.stderr
    assert "3 photos (3 iteration, 0 holdout)" in shown.stdout
    assert "known negative" in shown.stdout
    counts = json.loads(run_harness("stats", "--json", "references=staging", root).stdout)
    assert counts["photos"] == 3
    assert counts["done"] == {"bibs": 3, "faces": 3, "links": 3, "people": 0}
    assert counts["identities"] == {"P001": 1, "P005": 1, "P006": 1}


def test_stats_tell_groups_origins_and_what_to_review(run_harness: RunHarness, tiny_set: Path) -> None:
    break_a_group(tiny_set)
    faces = tiny_set / "face_ground_truth.json"
    faces.write_text(faces.read_text().replace('"labeled":true', '"labeled":false', 1))
    shown = run_harness("stats", f"references.root={tiny_set}").stdout
    assert "groups                    2" in shown
    assert "broken by split           1" in shown
    assert "split --by-group" in shown
    assert "To review: 1 photo that an older rule took for complete" in shown
    assert "unknown      2      3" in shown
    counts = json.loads(run_harness("stats", "--json", f"references.root={tiny_set}").stdout)
    assert counts["groups"]["joined"] == {"imported": 1, "burst": 0, "runner": 0}
    assert (counts["groups"]["broken"], list(counts["review"].values())) == (1, ["P001.jpg"])
    alone = run_harness("stats", "--json", f"references.root={tiny_set}", "references.groups=photo").stdout
    assert json.loads(alone)["groups"]["groups"] == 3


def test_stats_name_what_cross_checks_find(run_harness: RunHarness, tiny_set: Path) -> None:
    root = f"references.root={tiny_set}"
    assert "cross-checks" not in run_harness("stats", root).stdout
    assert json.loads(run_harness("stats", "--json", root).stdout)["cross_checks"] == []
    faces = tiny_set / "face_ground_truth.json"
    content = json.loads(faces.read_text())
    named = [box for labels in content["photos"].values() for box in labels["boxes"]]
    for box, name in zip(named, ("Ada", "ada", "A da"), strict=True):
        box["identity"] = name
    faces.write_text(json.dumps(content))
    before = faces.read_bytes()
    shown = run_harness("stats", root).stdout
    words = '3 names differ by case or blanks only: "A da" (1 photo), "Ada" (1 photo), "ada" (1 photo)'
    assert "To review: 1 finding of cross-checks between names and numbers:\n" in shown
    assert f"\n  {words}: " in shown
    (finding,) = json.loads(run_harness("stats", "--json", root).stdout)["cross_checks"]
    assert (finding["kind"], finding["words"]) == ("names_alike", words)
    index = json.loads((tiny_set / "photo_index.json").read_text())["photos"]
    assert finding["photos"] == {
        photo: index[photo]["names"][0] for photo, labels in content["photos"].items() if labels["boxes"]
    }
    assert f"{words}: {', '.join(finding['photos'].values())}\n" in shown
    assert faces.read_bytes() == before


def test_stats_show_the_first_findings_and_photos_and_say_how_many_more_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    photos = {str(number): f"{number}\n.jpg" for number in range(5)}
    show_findings([Finding("names_alike", f"words {number}", photos) for number in range(12)])
    title, *lines = capsys.readouterr().out.strip().splitlines()
    assert title == "To review: 12 findings of cross-checks between names and numbers:"
    assert lines[0] == r"  words 0: '0\n.jpg', '1\n.jpg', '2\n.jpg' and 2 more"
    assert (len(lines), lines[-1]) == (11, "  ... and 2 more (--json has all)")


def break_a_group(root: Path) -> None:
    """The first two photos are a group, and in different splits."""
    index = root / "photo_index.json"
    content = json.loads(index.read_text())
    first, second, _ = content["photos"].values()
    first["group"] = second["group"] = "finish"
    second["split"] = "holdout"
    index.write_text(json.dumps(content))


def test_split_shows_asks_and_moves(run_harness: RunHarness, tiny_set: Path) -> None:
    root = f"references.root={tiny_set}"
    break_a_group(tiny_set)
    before = (tiny_set / "photo_index.json").read_text()
    shown = run_harness("split", "--by-group", "--dry-run", root)
    assert "1 photo of 1 group in another split than most of the group" in shown.stdout
    assert "P005.jpg: holdout -> iteration" in shown.stdout
    asked = run_harness("split", "--by-group", root)
    assert (asked.returncode, "add -f" in asked.stderr) == (2, True)
    assert (tiny_set / "photo_index.json").read_text() == before
    moved = json.loads(run_harness("split", "--by-group", "-f", "--json", root).stdout)
    assert (moved["broken"], list(moved["moves"].values()), moved["moved"]) == (1, ["iteration"], True)
    assert "the split breaks no group" in run_harness("split", "--by-group", root).stdout
    frozen = run_harness("split", "--by-group", "references=frozen", root)
    assert (frozen.returncode, "references=staging alone" in frozen.stderr) == (2, True)


def test_freeze_for_some_dimensions(run_harness: RunHarness, tiny_set: Path) -> None:
    root = f"references.root={tiny_set}"
    (tiny_set / "bib_face_links.json").write_text('{"photos": {}}')
    frozen = run_harness("freeze", root, "--name", "faces", "--for", "faces")
    assert "Frozen faces: 3 photos (3 iteration, 0 holdout), for faces alone" in frozen.stdout, frozen.stderr
    (listed,) = json.loads(run_harness("frozen-list", "--json", root).stdout)
    assert (listed["dimensions"], listed["groups"]) == (["faces"], {"cut": 0, "joined": listed["groups"]["joined"]})
    wrong = run_harness("freeze", root, "--name", "x", "--for", "faces,hats")
    assert (wrong.returncode, "'hats' is none of them" in wrong.stderr) == (1, True)


def test_freeze_list_and_a_touched_set(run_harness: RunHarness, tiny_set: Path) -> None:
    root = f"references.root={tiny_set}"
    links = tiny_set / "bib_face_links.json"
    links.write_text('{"photos": {}}')
    frozen = run_harness("freeze", root, "--name", "v1", "--include-incomplete")
    assert frozen.returncode == 0, frozen.stderr
    assert "Frozen v1: 3 photos (3 iteration, 0 holdout)" in frozen.stdout
    assert "warning: 2 partly labelled and 0 unlabelled of 3 photos" in frozen.stderr
    taken = run_harness("freeze", "--name", "v1", root)
    assert (taken.returncode, "this name is taken" in taken.stderr) == (1, True)
    listed = json.loads(run_harness("frozen-list", "--json", root).stdout)
    assert [(item["name"], item["photos"]) for item in listed] == [("v1", 3)]
    assert listed[0]["digest"][:12] in run_harness("frozen-list", root).stdout
    labels = tiny_set / "frozen" / "v1" / "bib_ground_truth.json"
    labels.chmod(0o644)
    labels.write_text(labels.read_text().replace('"417"', '"418"'))
    refused = run_harness("references=frozen", root, "references.name=v1")
    assert refused.returncode == 1
    assert "bib_ground_truth.json: frozen set v1 was changed after it was made" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_touched_set_is_shown_beside_the_others(run_harness: RunHarness, tiny_set: Path) -> None:
    root = f"references.root={tiny_set}"
    for name in ("v1", "v2"):
        assert run_harness("freeze", root, "--name", name).returncode == 0
    manifest = tiny_set / "frozen" / "v1" / "manifest.json"
    manifest.chmod(0o644)
    manifest.write_text(manifest.read_text().replace('"description": ""', '"description": "better"'))
    shown, listed = run_harness("frozen-list", root), run_harness("frozen-list", "--json", root)
    assert (shown.returncode, listed.returncode) == (1, 1)
    assert [line.split()[0] for line in shown.stdout.splitlines()] == ["NAME", "v2"]
    assert "1 frozen set cannot be used:\n" in shown.stderr
    assert f"{manifest}: frozen set v1 was changed after it was made" in shown.stderr
    assert [(item["name"], "problem" in item) for item in json.loads(listed.stdout)] == [("v2", False), ("v1", True)]


def test_scan_export_and_import(run_harness: RunHarness, work: Path, tiny_set: Path) -> None:
    root = f"references.root={tiny_set}"
    assert json.loads(run_harness("scan", "--json", root).stdout) == {
        "photos": 3,
        "new": [],
        "unreadable": [],
        "damaged": [],
        "missing": [],
        "changed": [],
        "named": 5,
    }
    exported = run_harness("export", "--format", "coco", "out", root)
    assert exported.returncode == 0, exported.stderr
    assert "Exported 3 photos, 2 bibs, 3 faces, 2 links to out/annotations.json" in exported.stdout
    imported = run_harness("import", "--format", "coco", "out")
    assert "Imported 3 photos, 2 bibs, 3 faces, 2 links into data/reference (3 new photos)" in imported.stdout
    assert (work / "data" / "reference" / "photo_index.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["stats"], 1, "no reference set at data/reference"),
        (["stats", "references.rot=x"], 2, "references.rot: no such key"),
        (["stats", "references=sample"], 2, "works on references=staging"),
        (["freeze"], 2, "--name"),
        (["freeze", "--name", "v1"], 1, "no reference set"),
        (["import", "--format", "coco", "nowhere"], 2, "nowhere: no such file or folder"),
        (["import", "--format", "xml", "."], 2, "import: --format xml: expected one of "),
        (["prepare", "nowhere"], 2, "nowhere: no such file or folder"),
        (["export", "--format", "coco", "out"], 1, "no reference set"),
        (["stats", "--jsn"], 2, "stats: --jsn: no such option; did you mean --json?"),
        (["references=frozen", "references.name=v9"], 1, "references.name: no frozen set v9"),
    ],
)
def test_a_mistake_is_told_briefly_and_leaves_nothing_behind(
    run_harness: RunHarness, work: Path, arguments: list[str], code: int, message: str
) -> None:
    done = run_harness(*arguments)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert message in done.stderr
    assert not list(work.rglob("*"))
