"""``ome-dashboard-check``: ``manage.py check`` where this repository is installed as a package, as pre-commit does it.

It keeps nothing: no folder for data is made, and without ``DATABASE_URL`` there is no database.
"""

from __future__ import annotations

import os
import sys

from django.core.management.utils import get_random_secret_key

__all__ = ["main"]


def main() -> None:
    """Judge what the arguments name; the exit codes are those of ``manage.py check``."""
    os.environ.setdefault("OME_DASHBOARD_SECRET_KEY", get_random_secret_key())
    os.environ.setdefault("DATABASE_URL", "sqlite://:memory:")
    sys.argv[1:1] = ["check"]
    from manage import main as manage

    manage()
