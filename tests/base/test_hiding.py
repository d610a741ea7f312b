"""Secrets are hidden by name and in addresses, and nothing else is."""

from __future__ import annotations

import pytest
from omegaconf import OmegaConf

from harness.base import conf
from harness.base.hiding import MASK, hide, hide_override, hide_text, is_secret
from harness.config import compose


@pytest.mark.parametrize("name", ["token", "api_key", "OCR_TOKEN", "userPassword", "aws-secret", "X-Api-Key", "auth"])
def test_names_of_secrets(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize(
    "name", ["keypoints", "monkey", "max_tokens", "tokenizer", "author", "key_points_x", "long_side"]
)
def test_names_that_only_look_like_them(name: str) -> None:
    assert is_secret(name) == (name == "key_points_x")  # `key` stands there as a word of its own: better once too often


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://me:pw@db/x", "postgresql://***@db/x"),
        ("see https://me:p@ss@host/a and more", "see https://***@host/a and more"),
        ("http://:pw@host", "http://***@host"),
        ("https://host/a?x=1&access_token=abc&y=2", "https://host/a?x=1&access_token=***&y=2"),
        ("https://host:5000/me@there", "https://host:5000/me@there"),
        ("s3://bucket/cache", "s3://bucket/cache"),
        ("me@host", "me@host"),
    ],
)
def test_logins_in_addresses(text: str, shown: str) -> None:
    assert hide_text(text) == shown


def test_values_below_a_secret_name_in_lists_and_from_the_environment() -> None:
    values = {"login": {"credentials": {"user": "u", "n": 7}}, "tokens": 5, "urls": ["x://a:b@c"], "e": "S", "d": "S"}
    written = {"e": "${oc.env:THE_TOKEN}", "d": '${oc.env:THE_TOKEN,"default"}'}
    found = hide(values, written)
    assert found.values == {
        "login": {"credentials": {"user": MASK, "n": MASK}},
        "tokens": 5,
        "urls": ["x://***@c"],
        "e": "${oc.env:THE_TOKEN}",
        "d": MASK,
    }
    assert set(found.secrets) == {"login.credentials.user", "login.credentials.n", "urls.0", "e", "d"}


def test_two_secrets_differ_and_none_costs_nothing() -> None:
    digests = {hide({"key": secret}).digest for secret in ("a", "b")}
    assert len(digests) == 2
    assert hide({"x": 1}).digest == ""


def test_overrides_as_they_stand_in_the_name_of_a_run() -> None:
    assert hide_override("face.api_key=abc") == "face.api_key=***"
    assert hide_override("face.server=http://a:b@c") == "face.server=http://***@c"
    assert hide_override("face.threshold=0.5") == "face.threshold=0.5"


def test_nothing_that_the_harness_ships_is_taken_for_a_secret() -> None:
    """Else a run would not say what it was made with."""
    for group in conf.groups():
        for choice in conf.choices(group):
            given = [f"{group}={choice}", *(["references.name=x"] if choice == "frozen" else [])]
            values = OmegaConf.to_container(compose(given), resolve=False)
            assert not hide(values).secrets, (group, choice)
