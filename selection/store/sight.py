"""What of the clusters whoever asks may see, in one place that every query goes through.

A :class:`Sight` holds for the time of a request; where none was set everything is seen, as commands, the processes that
sync and one person on one machine do. The managers of the store's models narrow what they give to it, and
:func:`selection.store.fleets.fleet_of` narrows the fleet, so that lists, counts, searches, exports and what the rules
compute can't tell of what isn't seen.

A cluster that is seen is seen with its cluster-scoped objects; of its namespaces all, or some.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from django.db.models import Manager, Model, Q, QuerySet
from django.db.models.expressions import Combinable

__all__ = [
    "EVERYTHING",
    "NOTHING",
    "Place",
    "SeenManager",
    "Sight",
    "SightedModel",
    "Where",
    "current_sight",
    "seeing",
    "seen_through",
    "sight_key",
    "step_by_step",
]

Row = TypeVar("Row", bound=Model)
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Place:
    """A cluster that is seen: all of it (``namespaces`` is None), or these namespaces and what is in none."""

    pk: int
    name: str
    namespaces: frozenset[str] | None = None

    def sees(self, namespace: str) -> bool:
        """Whether a namespace's objects are seen, or with ``""`` the cluster-scoped ones."""
        return self.namespaces is None or not namespace or namespace in self.namespaces


@dataclass(frozen=True, slots=True)
class Sight:
    """What is seen: everything (``places`` is None), or these clusters, one place each.

    >>> lab = Sight((Place(1, "lab", frozenset({"ml"})),))
    >>> lab.sees(1, "ml"), lab.sees(1, "hr"), lab.sees(1, ""), lab.sees(2, "ml")
    (True, False, True, False)
    >>> lab.whole(1), EVERYTHING.whole(1)
    (False, True)
    """

    places: tuple[Place, ...] | None = None

    @property
    def everything(self) -> bool:
        """Whether nothing is hidden, not even a cluster that is yet to come."""
        return self.places is None

    @property
    def nothing(self) -> bool:
        """Whether nothing at all is seen."""
        return self.places == ()

    @property
    def whole_everywhere(self) -> bool:
        """Whether all namespaces are seen of every cluster that is seen."""
        return all(place.namespaces is None for place in self.places or ())

    def place(self, cluster: int) -> Place | None:
        """What is seen of the cluster with this primary key; None when it isn't seen, or everything is."""
        return next((place for place in self.places or () if place.pk == cluster), None)

    def sees(self, cluster: int, namespace: str = "") -> bool:
        """Whether a namespace of a cluster (its primary key) is seen; with ``""`` whether the cluster itself is."""
        place = self.place(cluster)
        return self.places is None or (place is not None and place.sees(namespace))

    def sees_named(self, cluster: str, namespace: str = "") -> bool:
        """The same by the cluster's name; one that isn't known any more is only seen by who sees everything."""
        places = self.places or ()
        return self.places is None or any(each.name == cluster and each.sees(namespace) for each in places)

    def whole(self, cluster: int) -> bool:
        """Whether every namespace of a cluster is seen, so that counts that were stored of it hold."""
        place = self.place(cluster)
        return self.places is None or (place is not None and place.namespaces is None)

    def namespaces(self, cluster: int) -> frozenset[str] | None:
        """The namespaces that are seen of a cluster, None for all of them."""
        if self.places is None:
            return None
        place = self.place(cluster)
        return frozenset() if place is None else place.namespaces


EVERYTHING = Sight()
NOTHING = Sight(())

_sight: ContextVar[Sight] = ContextVar("sight", default=EVERYTHING)


def current_sight() -> Sight:
    """What is seen here and now. A thread of its own begins with everything: hand it the sight, and set it there."""
    return _sight.get()


def sight_key() -> Hashable:
    """What caches of anything that was computed under a sight have in their key."""
    return _sight.get().places


@contextmanager
def seeing(sight: Sight) -> Iterator[None]:
    """See this much, and no more, for a block, or a decorated function.

    What writes derived rows, or reads a fleet for all to share, sees everything, whoever asked for it.
    """
    token = _sight.set(sight)
    try:
        yield
    finally:
        _sight.reset(token)


def step_by_step(sight: Sight, items: Iterable[Item]) -> Iterator[Item]:
    """The items, each made under a sight: of an answer that is still read when the request is over."""
    iterator = iter(items)
    while True:
        with seeing(sight):
            try:
                item = next(iterator)
            except StopIteration:
                return
        yield item


@dataclass(frozen=True, slots=True)
class Where:
    """Where a model's rows belong.

    Attributes:
        cluster: the path to the cluster, ``"pk"`` on the cluster itself.
        namespaces: the fields that name a namespace, or ``""``; a row is seen where all of them are.
        only_whole: whether rows tell of all namespaces at once, so that only who sees all of them sees a row.
        hidden: rows that rest on objects of all namespaces, so that nobody else is told of them.
        counts: fields that count objects of all namespaces, with the expressions that count what is seen.
    """

    cluster: str = "cluster"
    namespaces: tuple[str, ...] = ()
    only_whole: bool = False
    hidden: Q | None = None
    counts: Callable[[Sight], Mapping[str, Combinable]] | None = None

    def condition(self, sight: Sight, through: str = "") -> Q:
        """The rows that are seen; ``through`` is the path to the model from where the condition is asked."""
        cluster = f"{through}{self.cluster}__in"
        places = sight.places or ()
        whole = Q(**{cluster: [place.pk for place in places if place.namespaces is None]})
        if self.only_whole:
            return whole
        if not self.namespaces:
            return Q(**{cluster: [place.pk for place in places]})
        found = whole
        for namespaces, pks in _parts(places).items():
            part = Q(**{cluster: pks})
            for field in self.namespaces:
                part &= Q(**{f"{through}{field}__in": ["", *sorted(namespaces)]})
            found |= part if self.hidden is None else part & ~self.hidden
        return found


def _parts(places: Iterable[Place]) -> dict[frozenset[str], list[int]]:
    """The clusters of which some namespaces are seen, by those."""
    found: dict[frozenset[str], list[int]] = {}
    for place in places:
        if place.namespaces is not None:
            found.setdefault(place.namespaces, []).append(place.pk)
    return found


class SeenManager(Manager[Row]):
    """Gives the rows that are seen, with counts of what is seen. Under the sight of everything it adds nothing.

    A row that another one leads to (``row.cause``, ``select_related``) comes without a manager; it is veiled.
    """

    def get_queryset(self) -> QuerySet[Row]:
        """All rows that are seen."""
        rows = super().get_queryset()
        sight = _sight.get()
        if sight.places is None:
            return rows
        where: Where = self.model.where  # type: ignore[attr-defined]
        rows = rows.filter(where.condition(sight))
        if where.counts is not None and not sight.whole_everywhere:
            # Annotations that stand for the fields of their name, wherever a query or a template names them.
            for name, count in where.counts(sight).items():
                rows.query.add_annotation(count, name)
        return rows


class SightedModel(Model):
    """A model whose rows are seen by who sees where they belong."""

    where = Where()
    objects = SeenManager()

    class Meta:
        abstract = True

    @classmethod
    def from_db(cls, *args: Any, **options: Any) -> Self:
        """Make the row, also where another one leads to it, and veil it."""
        row = super().from_db(*args, **options)
        sight = _sight.get()
        if sight.places is not None:
            row.veil(sight)
        return row

    def veil(self, sight: Sight) -> None:
        """Take from a row that was read what isn't seen of it."""


def seen_through(model: type[SightedModel], path: str) -> Q:
    """The condition for related rows that are joined by a path (``"services__"``), where no manager is asked."""
    sight = _sight.get()
    return Q() if sight.places is None else model.where.condition(sight, path)
