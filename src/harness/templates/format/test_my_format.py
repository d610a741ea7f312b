"""The contract that every format keeps, on an example that is written here; tests of your own go below it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.testing import FormatContract, Told, draw_runners, write_photo


class TestMyFormat(FormatContract):
    choice = "my_format"
    conf = Path(__file__).parent / "conf"
    broken = {  # noqa: RUF012 - nobody changes it
        "a column is missing": ("x,y,w,h", "x,y,w"),
        "not a number": ("40,60,", "forty,60,"),
        "a negative width": ("110,90", "-110,90"),
        "outside of the photo": ("40,60", "4000,60"),
        "a photo that is not there": ("a.jpg", "z.jpg"),
        "a value too many": ("417", "417,1"),
    }

    def write(self, folder: Path) -> Path:
        for seed, name in enumerate(("a.jpg", "b.jpg")):
            write_photo(folder / name, draw_runners(seed=seed))
        file = folder / "labels.csv"
        file.write_text("photo,x,y,w,h,number\na.jpg,40,60,110,90,417\na.jpg,160,200,50,40,\nb.jpg,,,,,\n")
        return file

    def expected(self) -> Mapping[str, tuple[list[Told] | None, list[Told] | None]]:
        return {"a.jpg": ([((40, 60, 110, 90), "417"), ((160, 200, 50, 40), None)], None), "b.jpg": ([], None)}
