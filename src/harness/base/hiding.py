"""Keeps secrets out of what is stored and shown: by the name of a key, and by what an address carries.

    >>> hide({"bib": {"api_key": "abc", "server": "https://me:abc@ocr.example/v1"}}).values
    {'bib': {'api_key': '***', 'server': 'https://***@ocr.example/v1'}}

A value that the config takes from the environment stays as it is written there, `${oc.env:OCR_TOKEN}`, so that a run of
a stored config finds it again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MASK = "***"
#: `key` and `auth` as well: rather once too often.
_SECRET = re.compile(r"token|secrets?|password|passwd|passphrase|pwd|(api)?key|credentials?|auth(orization)?", re.I)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
#: `name:password@` of an address, and what a query of it says under a secret name.
_LOGIN = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)[^\s/@]*:[^\s/]*@")
_QUERY = re.compile(r"(?P<name>[?&][\w.-]*(?:token|secret|passw|key|credential|signature)[\w.-]*=)[^&\s#]+", re.I)
_FROM_ENVIRONMENT = re.compile(r"\$\{oc\.env:\s*(?P<name>\w+)\s*(?P<default>,.*)?\}")


@dataclass(frozen=True)
class Hidden:
    """Values without their secrets, and the secrets by their dotted keys, for whoever has to tell two runs apart."""

    values: Any
    secrets: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Differs where a secret differs; "" where there is none. It costs so much to compute that a password cannot be
        found by trying many."""
        if not self.secrets:
            return ""
        told = json.dumps(sorted(self.secrets.items())).encode()
        return hashlib.scrypt(told, salt=b"harness", n=2**14, r=8, p=1, dklen=16).hex()


def is_secret(name: str) -> bool:
    """Whether a key is called like something that nobody else may read: `api_key`, `OCR_TOKEN`, `userPassword`."""
    return any(map(_SECRET.fullmatch, _WORDS.findall(name)))


def hide_text(text: str) -> str:
    """Text with the logins of the addresses in it masked."""
    return _QUERY.sub(rf"\g<name>{MASK}", _LOGIN.sub(rf"\g<scheme>{MASK}@", text))


def hide_override(item: str) -> str:
    """An override as it can be shown: `face.api_key=***`."""
    key, equals, value = item.partition("=")
    return f"{key}={MASK}" if equals and value and any(map(is_secret, key.split("."))) else hide_text(item)


def hide(values: Any, written: Any = None) -> Hidden:
    """Resolved values of a config without secrets; `written` is the same before anything was looked up."""
    secrets: dict[str, str] = {}
    return Hidden(_hidden(values, written, "", False, secrets), secrets)


def _hidden(value: Any, written: Any, path: str, secret: bool, secrets: dict[str, str]) -> Any:
    if isinstance(value, Mapping):
        below = written if isinstance(written, Mapping) else {}
        return {
            key: _hidden(each, below.get(key), f"{path}.{key}".lstrip("."), secret or is_secret(str(key)), secrets)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        items = written if isinstance(written, list) and len(written) == len(value) else [None] * len(value)
        pairs = enumerate(zip(value, items, strict=True))
        return [_hidden(each, before, f"{path}.{place}", secret, secrets) for place, (each, before) in pairs]
    found = _FROM_ENVIRONMENT.search(written) if isinstance(written, str) else None
    named = secret or (found is not None and is_secret(found["name"]))
    shown: Any = hide_text(value) if isinstance(value, str) else value
    if named and value not in (None, "") and not isinstance(value, bool):
        shown = MASK
    if shown == value:
        return value
    secrets[path] = str(value)
    whole = found is not None and found[0] == written and not found["default"]
    return written if whole else shown
