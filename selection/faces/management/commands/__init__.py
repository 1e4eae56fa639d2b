"""The management commands."""

__all__: list[str] = []
