"""OME's rules as pure Python: no Django, no I/O, no clock, no logging.

Manifests (plain mappings) are read once into small frozen objects (:mod:`.parsing`), gathered in a
:class:`~selection.rules.fleet.Fleet`, and judged by :func:`~selection.rules.explain.explain_service`,
which returns one value that holds everything a page, the API or a command says.
"""

__all__: list[str] = []
