"""Runtime selection of the Open Model Engine, on five floors; imports only go down.

``faces`` (pages, REST, commands) > ``people`` (accounts, what they write) > ``store`` (models, sync, queries) >
``cluster`` (Kubernetes, files) > ``rules``.
"""

from __future__ import annotations

__all__: list[str] = []
