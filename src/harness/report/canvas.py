"""A figure in both of its forms: PNG for MLflow, and SVG that follows the light and dark of the page around it."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT = "#1f2329", "#8a9099"
#: How wide a figure is that fills the page, in inches.
WIDTH = 9.6


@dataclass(frozen=True)
class Picture:
    """A figure in both forms; `title` says in words what it shows."""

    name: str
    title: str
    png: bytes
    svg: str


@contextmanager
def _style() -> Iterator[None]:
    import matplotlib as mpl

    style: Any = {
        "font.family": "DejaVu Sans",
        "font.size": 10.5,
        "text.color": INK,
        "axes.labelcolor": INK,
        "axes.edgecolor": FAINT,
        "xtick.color": INK,
        "ytick.color": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": FAINT,
        "grid.alpha": 0.25,
        "legend.frameon": False,
        "axes.titlesize": 11.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "hatch.color": "#ffffff",
        "text.parse_math": False,  # a dollar sign in a tag is a dollar sign
        "svg.fonttype": "none",
        "svg.hashsalt": "harness",
    }
    with mpl.rc_context(style):
        yield


def draw(name: str, title: str, size: tuple[float, float], fill: Callable[[Figure], None]) -> Picture:
    """Make a figure of the given size in inches and let `fill` put into it what it shows."""
    from matplotlib.figure import Figure

    with _style(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # an empty box then stands for the letter
        figure = Figure(figsize=size, layout="constrained")
        fill(figure)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # laid out once, for both forms
        png, svg = io.BytesIO(), io.StringIO()
        figure.savefig(png, format="png", dpi=110, facecolor="white")
        figure.savefig(svg, format="svg", transparent=True, metadata={"Date": None})
    return Picture(name, title, png.getvalue(), _inline(svg.getvalue(), title))


def _inline(svg: str, title: str) -> str:
    """An SVG to stand inside a page: no prologue, and ink in the colour of the page's text."""
    body = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    body = re.sub(r'<svg ([^>]*?)width="[^"]*" ', r"<svg \1", body, count=1)
    body = re.sub(r'(<svg [^>]*?)height="[^"]*" ', r"\1", body, count=1)
    body = body.replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1)
    return body.replace(INK, "currentColor")


def write_pictures(folder: Path, pictures: Sequence[Picture]) -> None:
    """Write the PNGs."""
    for picture in pictures:
        (folder / f"{picture.name}.png").write_bytes(picture.png)


def percent_axis(axes: Axes, which: str) -> None:
    """Label one axis, `x` or `y`, in per cent."""
    from matplotlib.ticker import PercentFormatter

    (axes.yaxis if which == "y" else axes.xaxis).set_major_formatter(PercentFormatter(1, decimals=0))
