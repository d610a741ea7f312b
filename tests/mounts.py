"""Disks that fail, as mounts that only one command sees: a folder that is read-only, or on a disk without any room."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

Done = subprocess.CompletedProcess[str]


def read_only(folder: Path, *command: str) -> Done:
    """Run a command that sees a folder, as it is, read-only."""
    return _mounted('mount --bind "$FOLDER" "$FOLDER" && mount -o remount,bind,ro "$FOLDER"', folder, command)


def full_disk(folder: Path, *command: str, room_kb: int = 64) -> Done:
    """Run a command that sees a folder, as it is, on a small disk of its own with hardly any room left."""
    steps = (
        'size=$(( $(du -sk "$FOLDER" | cut -f1) + 256 ))',
        'copy=$(mktemp -d) && cp -a "$FOLDER/." "$copy"',
        'mount -t tmpfs -o size=${size}k tmpfs "$FOLDER"',
        'cp -a "$copy/." "$FOLDER" && rm -r "$copy"',
        '(cat /dev/zero > "$FOLDER/ballast" 2>/dev/null || true)',
        f'truncate -s -{room_kb}K "$FOLDER/ballast"',
    )
    return _mounted(" && ".join(steps), folder, command)


def _mounted(mount: str, folder: Path, command: tuple[str, ...]) -> Done:
    namespace = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    try:
        subprocess.run([*namespace, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs mounts in a namespace of their own, which this machine does not allow")
    script = [*namespace, "sh", "-c", f'{mount} && exec "$@"', "sh", *command]
    environment = {**os.environ, "FOLDER": str(folder)}
    return subprocess.run(script, env=environment, capture_output=True, text=True, timeout=300)
