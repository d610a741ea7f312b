"""What a stage saw in a photo, kept by content: a sweep pays only for what a parameter changes.

The key of an entry covers the photo's hash and everything that the stage's answer depends on: its configuration, the
digests of its models, its code and the versions of the packages it runs on. So an entry is never stale, and there is
nothing to invalidate. Each entry carries a checksum; one that fails it counts as absent, is computed anew and replaced.
A cache that cannot be used fails nobody: it is bypassed, with one warning.

`values` has keys, bytes and checksums, `local` the SQLite file of this machine, `shared` a folder or object storage
that several machines use. Backends import this package, and their keys follow from imports: so nothing here imports
`shared`, whose packages change no answer. Whoever chooses `cache=shared` names its class.
"""

from __future__ import annotations

from harness.pipeline.cache.local import FILE, CacheConfig, StageCache, StageUse
from harness.pipeline.cache.values import PICTURE, Entry, checksum, decoded, encoded, key_of

__all__ = [
    "FILE",
    "PICTURE",
    "CacheConfig",
    "Entry",
    "StageCache",
    "StageUse",
    "checksum",
    "decoded",
    "encoded",
    "key_of",
]
