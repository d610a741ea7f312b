"""COCO results as predictions: detections `{"image_id", "category_id", "bbox", "score"}` as pycocotools takes them,
and the COCO file that they refer to, for the images and the categories.

A category is bib or face by its name, or by what the user says. One that no result has is not predicted; an image of
the COCO file without a result has none found. `number` may stand in a result or in its `attributes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PureWindowsPath
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from harness.base.checks import Share, first_error
from harness.base.documents import checked, read_json_once
from harness.base.errors import PredictionsError
from harness.base.texts import one_line
from harness.tasks.photos.gathering import Gatherer, Naming
from harness.tasks.photos.prediction_files import PredictionsFile
from harness.tasks.photos.prediction_lines import LineError, PredictedBib, PredictedFace, PredictionLine
from harness.tasks.photos.scores import BIBS, FACES

Id = int | str
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Extent = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
#: What a category can mean; `none` is left out.
KINDS = ("bib", "face", "none")
_MOST_PROBLEMS = 5


class _Image(BaseModel):
    id: Id
    file_name: str = Field(min_length=1)
    width: int | None = Field(default=None, gt=0)
    height: int | None = Field(default=None, gt=0)


class _Category(BaseModel):
    id: Id
    name: str


class _Images(BaseModel):
    images: list[_Image]
    categories: list[_Category]


def _text(value: Any) -> str | None:
    """A number as text; tools that guess types write a whole number."""
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError(f'expected a text such as "417", or null, got {value!r:.80}')
    return str(value)


Text = Annotated[str | None, BeforeValidator(_text)]


class _Attributes(BaseModel):
    number: Text = None


class _Result(BaseModel):
    image_id: Id
    category_id: Id
    bbox: tuple[Number, Number, Extent, Extent]
    score: Annotated[Share, Field(strict=True)] | None = None
    number: Text = None
    attributes: _Attributes = _Attributes()


def gather_results(file: PredictionsFile, gatherer: Gatherer) -> None:
    """Give the results to the gatherer, image by image."""
    if file.images is None:
        raise PredictionsError(
            f"{file.path}: a JSON array, as COCO results are; expected --images COCO.json with it, or one JSON object "
            "a line"
        )
    images = checked(_Images, read_json_once(file.images, PredictionsError), str(file.images), PredictionsError)
    by_id = {image.id: image for image in images.images}
    for name, items in (("images", images.images), ("categories", images.categories)):
        if len({item.id for item in items}) != len(items):
            raise PredictionsError(f"{file.images}: {name}: two of them have the same id")
    results = _checked(file, set(by_id))
    kinds = _kinds(file, images, {result.category_id for result in results})
    drawn: dict[Id, list[_Result]] = {image: [] for image in by_id}
    for result in results:
        drawn[result.image_id].append(result)
    predicted = {kinds[result.category_id] for result in results}
    gatherer.naming = _naming(file.path, images.images)
    for number, image in enumerate(images.images):
        own, photo = drawn[image.id], _photo(image.file_name, gatherer)
        if not own and photo is None:
            continue  # a COCO file may have more images than the set has photos
        size = (image.width, image.height) if image.width and image.height else None
        try:
            gatherer.add(number, _line(photo or {"photo": image.file_name}, own, kinds, predicted), size)
        except LineError as error:
            gatherer.problem(number, str(error))


def _naming(file: Path, images: Sequence[_Image]) -> Naming:
    def called(number: int) -> str:
        return f"image {one_line(images[number].file_name)}"

    return Naming(
        place=lambda number: f"{file}: {called(number)}",
        line=called,
        noun="image",
        by_hash="its sha256 as the file_name",
        pixels="pixels, as COCO has them",
    )


def _checked(file: PredictionsFile, images: set[Id]) -> list[_Result]:
    """The results, each checked by itself."""
    found = read_json_once(file.path, PredictionsError, "results")
    if not isinstance(found, list) or not found:
        raise PredictionsError(f"{file.path}: no COCO results; expected a JSON array of detections")
    results: list[_Result] = []
    problems: list[str] = []
    for place, item in enumerate(found):
        where = f"{file.path}: results.{place}"
        try:
            result = _Result.model_validate(item)
        except ValidationError as error:
            problems.append(first_error(error, where))
            continue
        if result.image_id not in images:
            problems.append(f"{where}.image_id: no image {result.image_id!r} in {file.images}")
        results.append(result)
    if problems:
        more = len(problems) - _MOST_PROBLEMS
        told = problems[:_MOST_PROBLEMS] + ([f"... and {more:,} more"] if more > 0 else [])
        raise PredictionsError("\n".join(told))
    return results


def _kinds(file: PredictionsFile, images: _Images, used: set[Id]) -> dict[Id, str]:
    """What each category that the results use means."""
    names = {category.id: category.name for category in images.categories}
    if strange := sorted(str(number) for number in used - names.keys()):
        raise PredictionsError(f"{file.path}: category_id {', '.join(strange)}: no such category in {file.images}")
    if unknown := sorted(file.categories.keys() - set(names.values())):
        raise PredictionsError(f"--category {unknown[0]}: {file.images} has {', '.join(sorted(names.values()))}")
    kinds = {number: file.categories.get(names[number], names[number].lower()) for number in used}
    if other := sorted({names[number] for number, kind in kinds.items() if kind not in KINDS}):
        raise PredictionsError(
            f"{file.images}: the results have categories that are neither bib nor face: {', '.join(other)}; say what "
            f"each is, as in --category {other[0]}=bib, or none to leave it out"
        )
    if set(kinds.values()) <= {"none"}:
        raise PredictionsError(f"{file.path}: no result is a bib or a face; expected at least one")
    return kinds


def _line(
    photo: Mapping[str, Any], results: list[_Result], kinds: Mapping[Id, str], predicted: set[str]
) -> PredictionLine:
    parts: dict[str, Any] = {}
    if "bib" in predicted:
        parts[BIBS] = [PredictedBib(**_box(r), **_number(r)) for r in results if kinds[r.category_id] == "bib"]
    if "face" in predicted:
        parts[FACES] = [PredictedFace(**_box(r)) for r in results if kinds[r.category_id] == "face"]
    return PredictionLine(**photo, unit="px", **parts)


def _box(result: _Result) -> dict[str, Any]:
    score = {"score": result.score} if "score" in result.model_fields_set else {}
    return {**dict(zip("xywh", result.bbox, strict=True)), **score}


def _number(result: _Result) -> dict[str, Any]:
    given = next((part for part in (result, result.attributes) if "number" in part.model_fields_set), None)
    return {"number": given.number} if given else {}


def _photo(file_name: str, gatherer: Gatherer) -> dict[str, str] | None:
    """What the set knows an image by: its name, that without the folders before it, or the hash that is its name."""
    for name in (file_name, PureWindowsPath(file_name).name):
        if gatherer.photos.find(name):
            return {"photo": name}
    sha256 = gatherer.photos.find_file(file_name)
    return {"sha256": sha256} if sha256 else None
