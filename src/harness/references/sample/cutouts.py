"""Persons cut out of their pictures, with a soft edge, dressed in the colours of their team.

A studio person differs from the grey backdrop, which is known from the picture's own sides, by colour or
brightness; hair differs by being darker. A person in a park is cut by GrabCut, started from the labels; that
person keeps their own trousers and shoes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from harness.references.photos import Image
from harness.references.sample.arrays import Colour, Mask, blur, morph, resize
from harness.references.sample.people import STUDIO, Picture, picture

_SMALL = 4  # GrabCut sees the picture at a quarter of its size


@dataclass(frozen=True, slots=True)
class Outfit:
    """What a person wears, in BGR; None leaves the picture's own colour."""

    shirt: Colour | None = None
    shorts: Colour | None = None
    shoes: Colour | None = None


@dataclass(frozen=True, slots=True)
class Cutout:
    """A person without a background. `over` is what hangs in front of the shirt."""

    bgr: Image
    alpha: Mask
    over: Mask
    labels: Picture


@lru_cache(maxsize=4)
def pixels(person: str, name: str) -> Image:
    """The picture itself, kept for the few uses that follow each other."""
    return picture(person, name).read()


@lru_cache(maxsize=24)
def cutout(person: str, name: str, outfit: Outfit) -> Cutout:
    """One person of one picture, dressed; the arrays cover the rectangle `labels.body`."""
    labels = picture(person, name)
    whole = pixels(person, name)
    x, y, right, bottom = _edges(labels.body)
    window = slice(y, bottom), slice(x, right)
    inside = (_studio_mask(whole, labels) if name == STUDIO else _park_mask(whole, labels))[window]
    image = whole[window]
    grey = np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY) / 255, np.float32)
    alpha = np.clip((_guided(grey, inside, 8, 1e-3) - 0.3) / 0.55, 0, 1).astype(np.float32)
    over = np.zeros(alpha.shape, np.uint8)
    for polygon in labels.over:
        cv2.fillPoly(over, [np.array(polygon, np.int32) - (x, y)], (255,))
    soft = blur(np.asarray(over / 255, np.float32), 1.5)
    return Cutout(_dress(image, alpha, labels, outfit), alpha, soft, labels)


def _studio_mask(image: Image, labels: Picture) -> Mask:
    lab = cv2.cvtColor(image, cv2.COLOR_BGR2LAB).astype(np.float32)
    width = image.shape[1]
    sides = [np.median(lab[:, part], axis=1) for part in (slice(0, width // 5), slice(-width // 5, None))]
    left, right = (cv2.GaussianBlur(side, (1, 81), 0)[:, None] for side in sides)
    ramp = np.linspace(0, 1, width, dtype=np.float32)[None, :, None]
    difference = lab - (left * (1 - ramp) + right * ramp)
    colour = np.hypot(difference[..., 1], difference[..., 2])
    x, y, w, h = labels.body
    _, _, _, hem = _edges(labels.shirt)
    rows = np.arange(image.shape[0])[:, None]
    hair = (difference[..., 0] < -25) & (rows < labels.shirt[1] + 40)
    cloth = (difference[..., 0] > 16) & (rows < hem + 520)
    beside = np.abs(np.arange(width) - labels.shirt[0] - labels.shirt[2] / 2) > labels.shirt[2] * 0.17
    knees = (difference[..., 0] < -45) & (rows > hem + 380) & (rows < hem + 560) & beside
    found = ((colour > 7) | hair | cloth | knees).astype(np.uint8)
    if labels.shorts:
        cv2.fillPoly(found, [np.array(labels.shorts, np.int32)], (1,))
    shirt_x, top, shirt_end, _ = _edges(labels.shirt)
    found[top + 60 : hem, shirt_x + 30 : shirt_end - 30] = 1
    found[hem : hem + 70, shirt_x + 60 : shirt_end - 60] = 1
    keep = np.zeros_like(found)
    keep[y : y + h, x : x + w] = found[y : y + h, x : x + w]
    keep = morph(morph(keep, cv2.MORPH_OPEN, 5), cv2.MORPH_CLOSE, 9)
    return blur(_without_specks(_largest(keep)).astype(np.float32), 1.5)


def _park_mask(image: Image, labels: Picture) -> Mask:
    height, width = image.shape[:2]
    small = resize(image, width // _SMALL, height // _SMALL)
    state = np.full(small.shape[:2], cv2.GC_BGD, np.uint8)
    x, _, right, bottom = (value // _SMALL for value in _edges(labels.body))
    fx, fy, fw, fh = (value // _SMALL for value in labels.face)
    hx, hy, hw, hh = (value // _SMALL for value in labels.head)
    sx, sy, sr, hem = (value // _SMALL for value in _edges(labels.shirt))
    state[fy + fh : bottom, x:right] = cv2.GC_PR_BGD
    neck = slice(fy + fh, max(fy + fh, sy - fh * 2 // 7))
    state[neck, x:fx] = cv2.GC_BGD
    state[neck, fx + fw : right] = cv2.GC_BGD
    state[hem:bottom, sx:sr] = cv2.GC_PR_FGD
    state[bottom - fh : bottom, x:right] = cv2.GC_PR_FGD
    head = ((hx + hw / 2, hy + hh / 2), (hw, hh), 0.0)
    cv2.ellipse(state, head, (cv2.GC_PR_FGD,), -1)
    inner = ((hx + hw / 2, hy + hh / 2), (hw * 0.8, hh * 0.86), 0.0)
    cv2.ellipse(state, inner, (cv2.GC_FGD,), -1)
    state[fy : fy + fh, fx : fx + fw] = cv2.GC_FGD
    state[fy + fh : sy, fx + fw // 4 : fx + fw - fw // 4] = cv2.GC_FGD
    state[sy + fh // 6 : hem, sx + fw // 8 : sr - fw // 8] = cv2.GC_FGD
    cv2.setRNGSeed(1)
    behind, before = np.zeros((1, 65)), np.zeros((1, 65))
    cv2.grabCut(small, state, (0, 0, 1, 1), behind, before, 4, cv2.GC_INIT_WITH_MASK)
    found = np.isin(state, (cv2.GC_FGD, cv2.GC_PR_FGD)).astype(np.uint8)
    found = morph(morph(found, cv2.MORPH_CLOSE, 3), cv2.MORPH_OPEN, 3)
    return resize(blur(_largest(found).astype(np.float32), 1.0), width, height)


def _dress(image: Image, alpha: Mask, labels: Picture, outfit: Outfit) -> Image:
    hsv = cv2.cvtColor(image, cv2.COLOR_BGR2HSV)
    rows = labels.body[1] + np.arange(image.shape[0])[:, None]
    _, fy, _, fh = labels.face
    hem = labels.shirt[1] + labels.shirt[3]
    bottom = labels.body[1] + labels.body[3]
    pale = (hsv[..., 1] < 75) & (hsv[..., 2] > 45) & (alpha > 0.2)
    shirt = pale & (rows > fy + fh) & (rows < hem)
    if labels.name != STUDIO:
        bluish = (hsv[..., 0] > 80) & (hsv[..., 0] < 140) & (hsv[..., 1] < 130) & (alpha > 0.2)
        shirt = (shirt | (bluish & (rows < hem))) & _shirt_area(labels)
        outfit = Outfit(shirt=outfit.shirt)
    shorts = pale & (rows >= hem) & (rows < hem + 480)
    shoes = (rows > bottom - 175) & (alpha > 0.2)
    tinted = image.astype(np.float32)
    for region, colour in ((shirt, outfit.shirt), (shorts, outfit.shorts), (shoes, outfit.shoes)):
        if colour is not None:
            tinted = _tint(tinted, region, colour)
    return np.clip(tinted, 0, 255).astype(np.uint8)


def _shirt_area(labels: Picture) -> NDArray[np.bool_]:
    """Where the shirt of a picture can be: between the arms, with the sleeves beside it."""
    left, top, wide, tall = labels.body
    x, y, w, h = labels.shirt
    rows, columns = top + np.arange(tall)[:, None], left + np.arange(wide)[None]
    chin = labels.face[1] + labels.face[3]
    body = (rows > chin) & (rows < y + h) & (np.abs(columns - x - w / 2) < w * 0.55)
    sleeves = (rows > y - h // 4) & (rows < y + h // 2) & (np.abs(columns - x - w / 2) < w * 0.83)
    return np.asarray(body | sleeves, np.bool_)


def _tint(image: NDArray[np.float32], region: NDArray[np.bool_], colour: Colour) -> NDArray[np.float32]:
    """Give a region another colour and keep its folds and shadows."""
    if not region.any():
        return image
    light = image.max(axis=2)
    relative = np.clip(light / np.percentile(light[region], 80), 0, 1.25)
    weight = blur(region.astype(np.float32), 2.0)[..., None]
    target = relative[..., None] * np.array(colour, np.float32)
    return np.asarray(image * (1 - weight) + target * weight, np.float32)


def _edges(rect: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    x, y, w, h = rect
    return x, y, x + w, y + h


def _largest(mask: NDArray[np.uint8]) -> NDArray[np.uint8]:
    _, names, stats, _ = cv2.connectedComponentsWithStats(mask)
    return np.asarray(names == 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA])), np.uint8)


def _without_specks(mask: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Close the small holes; the gap between arm and body is a large one and stays."""
    _, names, stats, _ = cv2.connectedComponentsWithStats(1 - mask, connectivity=4)
    small = np.flatnonzero(stats[:, cv2.CC_STAT_AREA] < 1500)
    return np.asarray(mask | np.isin(names, small[small > 0]), np.uint8)


def _guided(guide: Mask, mask: Mask, radius: int, eps: float) -> Mask:
    """He's guided filter: move the mask's edge to the edges of the picture."""

    def mean(values: Mask) -> Mask:
        return np.asarray(cv2.boxFilter(values, -1, (2 * radius + 1, 2 * radius + 1)), np.float32)

    mean_guide, mean_mask = mean(guide), mean(mask)
    spread = mean(guide * guide) - mean_guide * mean_guide
    slope = np.asarray((mean(guide * mask) - mean_guide * mean_mask) / (spread + eps), np.float32)
    return mean(slope) * guide + mean(mean_mask - slope * mean_guide)
