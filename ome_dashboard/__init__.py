"""The Django project: settings, URLs, the web server and the checks of its configuration."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
