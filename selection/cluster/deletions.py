"""Which object somebody wants deleted, as people and programs name it."""

from __future__ import annotations

from selection.cluster.identities import BY_KIND, Unusable, check_name, check_namespace
from selection.cluster.kinds import KINDS

__all__ = ["deletion_of", "read_deletion"]

_BY_NAME = {
    **{kind.kind.lower(): kind for kind in KINDS},
    **{kind.plural: kind for kind in KINDS},
    "isvc": BY_KIND["InferenceService"],
}
"""Kinds by every name that is taken, in small letters; ``isvc`` is OME's short name."""


def read_deletion(text: str) -> tuple[str, str, str, bool]:
    """Read ``Kind name``, ``Kind namespace/name`` or the same with a slash after the kind.

    Returns:
        the kind, the namespace (``""`` for a cluster-scoped kind), the name, and whether no namespace was said
        where one is needed, so that it is ``default``.

    Raises:
        Unusable: it isn't of this form, or names no kind that is read, or what Kubernetes takes for no name.

    >>> read_deletion("InferenceService team/chat"), read_deletion("clusterservingruntime/fast")
    (('InferenceService', 'team', 'chat', False), ('ClusterServingRuntime', '', 'fast', False))
    """
    words = text.replace("/", " ").split()
    if len(words) not in {2, 3}:
        raise Unusable(f"{text[:80]!r} is not KIND NAMESPACE/NAME or KIND NAME")
    return deletion_of(words[0], words[1] if len(words) == 3 else "", words[-1])


def deletion_of(kind: str, namespace: str, name: str) -> tuple[str, str, str, bool]:
    """The same of its parts; ``namespace`` is ``""`` where none is said.

    Raises:
        Unusable: as :func:`read_deletion` does.
    """
    found = _BY_NAME.get(kind.lower())
    if found is None:
        raise Unusable(f"{kind[:80]!r} is no kind that is read")
    check_name(name)
    if not found.namespaced:
        if namespace:
            raise Unusable(f"{found.kind} is cluster-scoped: name it without a namespace")
        return found.kind, "", name, False
    if namespace:
        check_namespace(namespace)
    return found.kind, namespace or "default", name, not namespace
