"""The photos of the sample, as data; `compose` draws them. Figures are listed from far to near.

Positions and sizes are shares of the photo: `x` of its width from the left, `height` (that of a person of
1.75 m) of its height. Feet stand where the ground is for that size; the lower edge cuts near persons.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.references.sample.people import AMATEUR, STUDIO

LANDSCAPE, PORTRAIT = (2000, 1334), (1334, 2000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A person. With `bib` a runner wears their plate; `turn` and `tilt` are the plate's, in degrees."""

    person: str
    x: float = 0.5
    height: float = 0.5
    picture: str = STUDIO
    mirror: bool = False
    bib: bool = True
    blur: float = 0.0
    turn: float = 0.0
    tilt: float = 0.0
    drop: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """Writing that is no bib: a banner, gantry, clock or board; `rejected` asks for a `not_bib` label."""

    kind: str
    text: str
    x: float
    y: float
    width: float
    rejected: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Prop:
    """Something in front of the runners: pole, tape or barrier."""

    kind: str
    x: float
    y: float
    width: float
    blur: float = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One photo. `backdrop` is park, city, fence or the person whose own amateur picture is the scene, with
    `top` as the share of it that is cut away above; `strangers` are faces that it shows anyway, in pixels."""

    size: tuple[int, int] = LANDSCAPE
    backdrop: str = "park"
    ground: str = "road"
    horizon: float = 0.4
    camera: float = 1.5
    top: float = 0.0
    signs: tuple[Sign, ...] = ()
    figures: tuple[Figure, ...] = ()
    props: tuple[Prop, ...] = ()
    strangers: tuple[tuple[int, int, int, int], ...] = ()
    light: tuple[float, float, float] = (1.0, 1.0, 1.0)
    exposure: float = 1.0
    defocus: float = 0.0
    motion: float = 0.0
    noise: float = 3.0

    @property
    def in_place(self) -> bool:
        """Whether the scene is a person's own picture, in which that person stands where they stood."""
        return self.backdrop.startswith("P")


SCENES: tuple[Scene, ...] = (
    Scene(
        figures=(
            Figure(person="P007", x=0.6, height=0.15, tilt=3),
            Figure(person="P006", x=0.86, height=0.26, turn=-38, mirror=True),
            Figure(person="P005", x=0.72, height=0.3, turn=-12),
            Figure(person="P002", x=0.25, height=0.62, turn=10, tilt=3),
            Figure(person="P001", x=0.46, height=0.86, tilt=-3),
        ),
    ),
    Scene(
        backdrop="city",
        signs=(
            Sign(kind="gantry", text="START 2024", x=0.22, y=0.06, width=0.56, rejected=True),
            Sign(kind="board", text="10K", x=0.03, y=0.2, width=0.08),
        ),
        figures=(
            Figure(person="P006", x=0.36, height=0.26, turn=14),
            Figure(person="P003", x=0.8, height=0.4, mirror=True, turn=-20),
            Figure(person="P001", x=0.145, height=0.53, tilt=4),
            Figure(person="P007", x=0.22, height=0.6, tilt=-6),
            Figure(person="P004", x=0.48, height=0.72, mirror=True),
        ),
    ),
    Scene(
        size=PORTRAIT,
        backdrop="P004",
        horizon=0.46,
        figures=(
            Figure(person="P001", x=0.14, height=0.1, turn=10, blur=0.7),
            Figure(person="P004", picture=AMATEUR, drop=-0.02, tilt=-3),
        ),
    ),
    Scene(
        size=PORTRAIT,
        backdrop="P001",
        horizon=0.33,
        figures=(
            Figure(person="P005", x=0.86, height=0.42, turn=-10, blur=0.8),
            Figure(person="P001", picture=AMATEUR, drop=0.06),
        ),
        strangers=((94, 522, 18, 22), (164, 533, 18, 22)),
    ),
    Scene(
        size=PORTRAIT,
        backdrop="P006",
        horizon=0.38,
        figures=(Figure(person="P006", picture=AMATEUR, tilt=2),),
        light=(0.95, 1.0, 1.04),
    ),
    Scene(
        ground="track",
        horizon=0.34,
        figures=(
            Figure(person="P005", x=0.47, height=0.15),
            Figure(person="P003", x=0.3, height=0.21, tilt=5),
            Figure(person="P001", x=0.017, height=0.62, turn=14),
            Figure(person="P007", x=0.66, height=1.0, turn=12, tilt=-2),
            Figure(person="P002", x=0.96, height=1.1, turn=-10),
        ),
    ),
    Scene(
        horizon=0.42,
        figures=(
            Figure(person="P005", x=0.3, height=0.145, tilt=3, turn=24),
            Figure(person="P001", x=0.46, height=0.14, mirror=True),
            Figure(person="P002", x=0.68, height=0.25, turn=-12),
            Figure(person="P006", x=0.22, height=0.28, mirror=True, tilt=-3),
            Figure(person="P004", x=0.54, height=0.33, turn=8),
        ),
    ),
    Scene(
        size=PORTRAIT,
        backdrop="P009",
        horizon=0.36,
        figures=(Figure(person="P009", picture=AMATEUR, bib=False),),
    ),
    Scene(
        horizon=0.3,
        figures=(
            Figure(person="P002", x=0.13, height=0.62, bib=False, blur=1.5),
            Figure(person="P009", x=0.83, height=0.9, bib=False, mirror=True),
            Figure(person="P005", x=0.47, height=1.05, bib=False),
        ),
    ),
    Scene(horizon=0.36, ground="gravel"),
    Scene(
        backdrop="city",
        horizon=0.45,
        signs=(
            Sign(kind="gantry", text="FINISH 2024", x=0.2, y=0.05, width=0.6, rejected=True),
            Sign(kind="clock", text="01:23:45", x=0.38, y=0.22, width=0.24, rejected=True),
            Sign(kind="banner", text="VOLTA 0800 555 017", x=0.0, y=0.42, width=0.34),
            Sign(kind="board", text="42 KM", x=0.83, y=0.3, width=0.12, rejected=True),
        ),
    ),
    Scene(
        backdrop="city",
        exposure=0.2,
        light=(1.15, 1.0, 0.85),
        noise=6.0,
        figures=(
            Figure(person="P009", x=0.93, height=0.1, bib=False),
            Figure(person="P002", x=0.62, height=0.3, tilt=3),
            Figure(person="P007", x=0.76, height=0.32, mirror=True),
            Figure(person="P008", x=0.22, height=0.5, turn=10),
            Figure(person="P006", x=0.46, height=0.8, tilt=3),
        ),
    ),
    Scene(
        motion=22,
        figures=(
            Figure(person="P008", x=0.8, height=0.46),
            Figure(person="P004", x=0.42, height=0.8, mirror=True),
            Figure(person="P003", x=0.64, height=0.84, turn=-14, mirror=True),
            Figure(person="P005", x=0.22, height=0.95, turn=8),
        ),
    ),
    Scene(
        ground="gravel",
        exposure=1.75,
        light=(0.94, 1.0, 1.05),
        figures=(
            Figure(person="P004", x=0.88, height=0.34, turn=-10),
            Figure(person="P001", x=0.73, height=0.16, tilt=-4),
            Figure(person="P008", x=0.3, height=0.5, mirror=True, turn=8),
            Figure(person="P002", x=0.53, height=0.78, tilt=3),
        ),
    ),
    Scene(
        size=PORTRAIT,
        horizon=0.4,
        figures=(
            Figure(person="P006", x=0.11, height=0.18, blur=0.5),
            Figure(person="P002", x=0.86, height=0.2, turn=-12),
            Figure(person="P003", x=0.64, height=0.5, blur=0.8),
            Figure(person="P007", x=0.42, height=0.86, mirror=True, tilt=-3, turn=6),
        ),
    ),
    Scene(
        backdrop="city",
        figures=(
            Figure(person="P006", x=0.16, height=0.62, turn=10),
            Figure(person="P004", x=0.24, height=0.7),
            Figure(person="P002", x=0.652, height=0.66, mirror=True),
            Figure(person="P008", x=0.42, height=0.74, tilt=-4),
            Figure(person="P005", x=0.675, height=0.84, mirror=True, turn=-10),
        ),
    ),
    Scene(
        size=PORTRAIT,
        backdrop="P008",
        horizon=0.31,
        figures=(
            Figure(person="P007", x=0.88, height=0.11, turn=-8, blur=0.5),
            Figure(person="P008", picture=AMATEUR, drop=0.06, tilt=2),
        ),
        strangers=((1288, 560, 18, 22),),
    ),
    Scene(
        size=PORTRAIT,
        backdrop="P003",
        horizon=0.42,
        figures=(
            Figure(person="P001", x=0.16, height=0.4, mirror=True, turn=8, blur=0.7),
            Figure(person="P003", picture=AMATEUR, drop=0.08, tilt=-2),
        ),
    ),
    Scene(
        size=PORTRAIT,
        backdrop="P002",
        horizon=0.32,
        figures=(
            Figure(person="P004", x=0.8, height=0.26, mirror=True, turn=-8),
            Figure(person="P002", picture=AMATEUR, mirror=True, drop=0.02),
            Figure(person="P005", x=0.06, height=0.95, turn=10),
        ),
    ),
    Scene(
        horizon=0.36,
        ground="track",
        figures=(
            Figure(person="P008", x=0.17, height=0.46, blur=8.0),
            Figure(person="P004", x=0.75, height=0.56, blur=5.5, mirror=True),
            Figure(person="P006", x=0.46, height=1.15, picture=AMATEUR, tilt=-2),
        ),
    ),
    Scene(
        backdrop="fence",
        horizon=0.44,
        signs=(Sign(kind="banner", text="LAKESIDE RUN 2024", x=0.3, y=0.25, width=0.42, rejected=True),),
        figures=(
            Figure(person="P009", x=0.56, height=0.075, bib=False),
            Figure(person="P007", x=0.93, height=0.5, bib=False),
            Figure(person="P008", x=0.8, height=0.27),
            Figure(person="P001", x=0.2, height=0.17, turn=12),
            Figure(person="P006", x=0.68, height=0.6, turn=-10, mirror=True),
            Figure(person="P003", x=0.44, height=0.66),
        ),
        props=(Prop(kind="pole", x=0.679, y=0.0, width=0.012, blur=1.5),),
    ),
    Scene(
        backdrop="city",
        signs=(
            Sign(kind="gantry", text="FINISH 42 KM", x=0.14, y=0.03, width=0.72, rejected=True),
            Sign(kind="clock", text="03:07:52", x=0.74, y=0.2, width=0.18),
        ),
        figures=(
            Figure(person="P002", x=0.62, height=0.26, mirror=True),
            Figure(person="P003", x=0.12, height=0.2),
            Figure(person="P008", x=0.78, height=0.3, turn=-8),
            Figure(person="P005", x=0.28, height=0.56, mirror=True, turn=10),
            Figure(person="P004", x=0.47, height=0.7, tilt=2),
        ),
        props=(Prop(kind="tape", x=0.0, y=0.53, width=1.0, blur=1.0),),
        noise=14.0,
    ),
    Scene(
        backdrop="P007",
        top=0.1,
        horizon=0.6,
        signs=(Sign(kind="board", text="5 KM", x=0.76, y=0.33, width=0.13, rejected=True),),
        figures=(
            Figure(person="P009", x=0.1, height=0.08, bib=False),
            Figure(person="P007", picture=AMATEUR, bib=False),
        ),
        light=(1.04, 1.0, 0.97),
    ),
    Scene(
        size=PORTRAIT,
        backdrop="P005",
        horizon=0.36,
        figures=(Figure(person="P005", picture=AMATEUR, mirror=True, tilt=3, drop=-0.02),),
        defocus=1.0,
    ),
)
