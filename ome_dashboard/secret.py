"""The key that signs sessions and forms, when nobody gave one."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from django.core.management.utils import get_random_secret_key

__all__ = ["local_secret_key"]


def local_secret_key(path: Path) -> str:
    """Return the key kept in ``path``; make one, readable by this user alone, when there is none.

    Several processes may start at once: the file appears whole, under its name, exactly once.

    Raises:
        OSError: the file can be neither read nor made.
        ValueError: the file is there but has no key in it.
    """
    try:
        return _read(path)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    # mkstemp makes the file with mode 0600.
    handle, name = tempfile.mkstemp(prefix=".secret-key-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(get_random_secret_key() + "\n")
        # When another process was first, its key is the key.
        with contextlib.suppress(FileExistsError):
            os.link(name, path)
    finally:
        Path(name).unlink()
    return _read(path)


def _read(path: Path) -> str:
    key = path.read_text(encoding="ascii").strip()
    if not key:
        raise ValueError(f"{path} is empty")
    return key
