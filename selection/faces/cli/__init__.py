"""What the management commands share: where they read from and how they print."""

__all__: list[str] = []
