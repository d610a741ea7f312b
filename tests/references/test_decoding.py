"""Pictures that people have: turned ones, 16 bits, HEIC and AVIF, JPEGs without their end, and very large ones."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageOps

from harness.base import extras
from harness.base.errors import PhotoError, ReferenceSetError
from harness.pipeline.prepare import copy_in
from harness.references import decoding
from harness.references.adding import add_photos, scan
from harness.references.decoding import decode, upright, upright_pixels, upright_size
from harness.references.photo_files import find_photos, unsupported_photos
from harness.references.store import LabelStore
from tests.conftest import Harness

PICTURES = Path(__file__).parents[1] / "data" / "pictures"
NAME = Path("photo.jpg")
NOISE = np.random.default_rng(0).integers(0, 255, (160, 96, 3), dtype=np.uint8)


def encoded(pixels: NDArray[np.uint8] | NDArray[np.uint16], form: str = "JPEG", **options: object) -> bytes:
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, form, **options)
    return content.getvalue()


def turned(orientation: int, form: str = "JPEG") -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encoded(NOISE, form, exif=exif)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize(
    ("form", "strip"), [("JPEG", 1), ("JPEG", 1 << 22), ("TIFF", 1000), ("PNG", 1000), ("WEBP", 1)]
)
def test_a_picture_is_turned_as_pillow_would_turn_it(
    orientation: int, form: str, strip: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "_STRIP", strip)
    content = turned(orientation, form)
    with Image.open(io.BytesIO(content)) as opened:
        expected = np.asarray(ImageOps.exif_transpose(opened).convert("RGB"))
    pixels, damage = upright_pixels(NAME, content)
    assert (pixels[:, :, ::-1] == expected).all()
    assert (bool(pixels.flags["C_CONTIGUOUS"]), str(pixels.dtype), damage) == (True, "uint8", "")
    assert (np.asarray(upright(NAME, content)) == expected).all()
    size = (expected.shape[1], expected.shape[0])
    assert upright_size(NAME, io.BytesIO(content)) == decode(NAME, content).size == size


def test_grey_of_16_bits_is_scaled_and_not_clipped() -> None:
    grey = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    for form in ("PNG", "TIFF"):
        pixels, _ = upright_pixels(NAME, encoded(grey, form))
        assert (pixels == np.repeat(np.arange(256, dtype=np.uint8), 256).reshape(256, 256, 1)).all()


def test_numbers_that_are_no_shades_are_refused() -> None:
    content = io.BytesIO()
    Image.fromarray(np.ones((4, 4), dtype=np.float32)).save(content, "TIFF")
    with pytest.raises(PhotoError, match=r"photo\.jpg: not a readable picture: 32 bits a pixel; expected 8 or 16"):
        upright_pixels(NAME, content.getvalue())


def test_avif_is_read_and_stands_upright() -> None:
    pixels, _ = upright_pixels(NAME, turned(6, "AVIF"))
    assert pixels.shape == (96, 160, 3)


@pytest.mark.parametrize(("name", "shape", "blue"), [("plain", (40, 64, 3), (2, 2)), ("turned", (64, 40, 3), (2, 37))])
def test_heic_is_read_and_stands_upright(name: str, shape: tuple[int, ...], blue: tuple[int, int]) -> None:
    content = (PICTURES / f"{name}.heic").read_bytes()
    pixels, _ = upright_pixels(NAME, content)
    assert pixels.shape == shape
    assert np.abs(pixels[blue].astype(int) - (220, 40, 20)).max() < 12
    assert upright_size(NAME, io.BytesIO(content)) == (shape[1], shape[0])
    with pytest.raises(PhotoError, match=r"photo\.jpg: not a readable picture"):
        upright_pixels(NAME, content[:-100])


def test_without_its_package_a_heic_photo_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    told = r"photo\.jpg: a HEIC photo needs packages .* pip install 'mlflow-harness\[heic\]'"
    with pytest.raises(PhotoError, match=told):
        upright_pixels(NAME, (PICTURES / "plain.heic").read_bytes())


@pytest.mark.parametrize("cut", [1, 2, 60])
def test_a_jpeg_without_its_last_bytes_is_read_and_told(cut: int) -> None:
    content = encoded(NOISE, quality=90)
    whole, _ = upright_pixels(NAME, content)
    pixels, damage = upright_pixels(NAME, content[:-cut])
    assert damage.startswith("its last bytes are missing, and with them 0.0% of its rows")
    assert pixels.shape == whole.shape
    assert (pixels[:140] == whole[:140]).all()


def test_a_jpeg_of_which_more_is_missing_is_refused() -> None:
    content = encoded(NOISE, quality=90)
    with pytest.raises(PhotoError, match=r"truncated .*; [45]\d% of its rows are missing"):
        upright_pixels(NAME, content[: len(content) // 2])
    with pytest.raises(PhotoError, match="truncated"):
        upright_pixels(NAME, encoded(NOISE, progressive=True)[:-60])
    with pytest.raises(PhotoError, match="truncated"):
        upright_pixels(NAME, encoded(NOISE, "PNG")[:-60])


def test_a_photo_of_a_hundred_megapixels_comes_without_a_warning_of_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", NOISE.size // 3 - 1)  # below which this one is by a pixel
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert upright_pixels(NAME, encoded(NOISE))[0].shape == NOISE.shape
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(PhotoError, match=r"not a readable picture: more than 0 megapixels"):
        upright_pixels(NAME, encoded(NOISE))


def test_a_jpeg_is_decoded_small_where_small_is_enough() -> None:
    content = encoded(np.repeat(np.repeat(NOISE, 8, axis=0), 8, axis=1))
    assert decode(NAME, content, 160).picture.size == (96 * 2, 160 * 2)
    assert decode(NAME, content).picture.size == (96 * 8, 160 * 8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A good photo, one without its last bytes, a raw file and a HEIC photo."""
    place = tmp_path / "race"
    place.mkdir()
    (place / "a.jpg").write_bytes(encoded(NOISE))
    (place / "cut.jpg").write_bytes(encoded(NOISE, quality=90)[:-60])
    (place / "b.CR3").write_bytes(b"raw")
    (place / "c.HEIC").write_bytes((PICTURES / "plain.heic").read_bytes())
    (place / "notes.txt").write_text("not a photo")
    return place


def test_photos_of_other_kinds_are_named_and_damaged_ones_too(tmp_path: Path, folder: Path) -> None:
    added = copy_in(LabelStore(tmp_path / "set"), folder)
    assert [path.name for path in added.new] == ["a.jpg", "c.HEIC", "cut.jpg"]
    expected = "expected JPEG, PNG, WebP, TIFF, BMP, AVIF or HEIC"
    assert added.unreadable == {folder / "b.CR3": f"{folder / 'b.CR3'}: .cr3 is not supported; {expected}"}
    assert [path.name for path in added.damaged] == ["cut.jpg"]
    assert "its last bytes are missing" in added.damaged[folder / "cut.jpg"]
    for path in find_photos(folder):
        path.unlink()
    with pytest.raises(ReferenceSetError, match="no photos here, but 1 photo of kinds that are not supported"):
        copy_in(LabelStore(tmp_path / "other"), folder)


def test_scan_and_import_name_them(tmp_path: Path, folder: Path, harness: Harness) -> None:
    store = LabelStore(tmp_path / "set")
    add_photos(store, [folder / "a.jpg"])
    (store.root / "photos" / "b.nef").write_bytes(b"raw")
    assert [path.name for path in scan(store).added.unreadable] == ["b.nef"]
    assert unsupported_photos(folder / "a.jpg", tmp_path / "nowhere") == {}
    (tmp_path / "labels").mkdir()
    (tmp_path / "data.yaml").write_text("names: [bib]\n")
    done = harness("import", "--format", "yolo", "--photos", str(folder), str(tmp_path), "references.root=new")
    assert "1 photo not imported:" in done.out, done.err
    assert "b.CR3: .cr3 is not supported" in done.out
    assert "cut.jpg: its last bytes are missing" in done.err
