"""The hand-made cohort under `tests/data/grading`, and pictures to go with it, drawn here."""

from __future__ import annotations

import json
from pathlib import Path

from PIL import Image, ImageDraw

DATA = Path(__file__).parents[1] / "data" / "grading"
TRUTH, COHORT = DATA / "truth.json", DATA / "cohort"
RULES, OVERRIDES = DATA / "rules.yaml", DATA / "overrides.csv"
COLOURS = {"red": "#b8322a", "dark blue": "#23386e", "white": "#e9e9e4", "silver": "#a9b0b6", "green": "#3c7a4b"}


def draw_streets(folder: Path) -> Path:
    """One plain picture an image of the ground truth: road, sky, and something where each box is."""
    folder.mkdir(parents=True, exist_ok=True)
    coco = json.loads(TRUTH.read_text())
    for image in coco["images"]:
        picture = Image.new("RGB", (image["width"], image["height"]), "#bcd3e6")
        draw = ImageDraw.Draw(picture)
        draw.rectangle((0, 170, 640, 260), fill="#9aa58c")
        draw.rectangle((0, 260, 640, 480), fill="#6d7073")
        for note in (note for note in coco["annotations"] if note["image_id"] == image["id"]):
            x, y, w, h = note["bbox"]
            colour = COLOURS.get(note["attributes"].get("color", ""), "#26292c")
            if note["category_id"] == 3:
                draw.ellipse((x + w * 0.25, y, x + w * 0.75, y + w * 0.55), fill="#d8a77f")
                draw.rectangle((x, y + w * 0.55, x + w, y + h), fill="#57406b")
            else:
                draw.rounded_rectangle((x + w * 0.15, y, x + w * 0.85, y + h * 0.6), 12, fill=colour)
                draw.rounded_rectangle((x, y + h * 0.4, x + w, y + h * 0.9), 10, fill=colour)
                for wheel in (0.2, 0.8):
                    draw.ellipse((x + w * wheel - h / 6, y + h * 0.66, x + w * wheel + h / 6, y + h), fill="#101214")
        picture.save(folder / image["file_name"], quality=90)
    return folder
