"""The short words for OME's codes on badges and in tables: a label and a tone each.

Whole sentences live in ``templates/sentences/``. Tones are ``good``, ``warn``, ``bad``, ``plain`` and ``quiet``;
an unknown code is shown as it is.
"""

from __future__ import annotations

from typing import NamedTuple

from selection.faces import words_reviews
from selection.rules.codes import CODES

__all__ = [
    "ACTS",
    "ADMISSION",
    "CHANGES",
    "CHECKS",
    "CLUSTERS",
    "CONFLICTS",
    "DECISIONS",
    "DID",
    "FAMILIES",
    "FINDINGS",
    "KINDS_OF_FINDING",
    "LAPSES",
    "MIGRATION",
    "MODES",
    "OBJECTS",
    "OUTCOMES",
    "SEVERITIES",
    "SOURCES",
    "TURNS",
    "UPGRADES",
    "WHAT_IF",
    "WORKLOADS",
    "Word",
    "word",
]


class Word(NamedTuple):
    """How a code is shown: the label, the tone, the icon, and a title for those who hover."""

    label: str
    tone: str = "plain"
    icon: str = ""
    title: str = ""


OUTCOMES = {
    "auto-selected": Word("Selected", "good", "check", "OME selects a runtime for it"),
    "named": Word("Named", "good", "check", "It names its runtime, and the runtime fits"),
    "named-with-advice": Word("Named, doesn't fit", "warn", "warn", "It names a runtime that doesn't declare support"),
    "no-runtime": Word("No runtime", "bad", "cross", "No runtime qualifies, or the named one is missing"),
    "invalid": Word("Can't be judged", "bad", "cross", "Something must be put right before selection can answer"),
    "not-applicable": Word("No selection", "plain", "dash", "OME selects no runtime for such a service"),
}

MODES = {
    "RawDeployment": Word("RawDeployment", "plain", "", "One Deployment"),
    "OMENative": Word("OMENative", "plain", "", "An InferenceReplica"),
    "MultiNode": Word("MultiNode", "warn", "warn", "A LeaderWorkerSet: deprecated"),
    "MultiNodeRayVLLM": Word("MultiNodeRayVLLM", "warn", "warn", "Ray on several nodes: gone in v1.3"),
    "VirtualDeployment": Word("VirtualDeployment", "plain", "", "No workload (legacy)"),
}

SOURCES = {
    "ServiceAnnotation": Word("the service's own annotation"),
    "ComponentAnnotation": Word("the component's annotation, after merging"),
    "ServiceSpec": Word("spec.deploymentMode"),
    "LeaderWorkerShape": Word("a leader or worker"),
    "Default": Word("the default"),
    "ReplicaRefs": Word("spec.replicaRefs"),
}

CHECKS = {
    "disabled": Word("Disabled", title="spec.disabled is true"),
    "accelerator-class": Word("Accelerator class", title="It doesn't list every class that the service asks for"),
    "engine-deployment-mode": Word("Engine mode", title="Both sides declare a mode for the engine, and they differ"),
    "decoder-deployment-mode": Word("Decoder mode", title="Both sides declare a mode for the decoder, and they differ"),
    "model-format": Word("Model format", title="No entry of supportedModelFormats matches the model"),
    "model-size": Word("Model size", title="The model's size is outside modelSizeRange"),
    "auto-select": Word("autoSelect", title="No entry has autoSelect: true"),
    "entry-not-auto-select": Word(
        "Matching entry's autoSelect", title="The entry that matches isn't autoSelect-enabled"
    ),
    "score": Word("Score above 0", title="Its best score is 0"),
}

CONFLICTS = {
    "impossible": Word("Impossible", "bad", "cross", "The component can't run in that mode"),
    "pair": Word("Mixed pair", "bad", "cross", "Engine and decoder differ, and one is OMENative"),
    "rejected": Word("Rejected", "bad", "cross", "A runtime is skipped only for its mode"),
    "overridden": Word("Overridden", "warn", "warn", "The named runtime's mode is not what was asked for"),
    "hidden": Word("Hidden", "warn", "warn", "A value that doesn't count hides the runtime's mode"),
    "silent-takeover": Word("Silent takeover", "warn", "warn", "Nobody asked, and the runtime decides the mode"),
    "ignored": Word("Ignored", "plain", "info", "A mode that OME doesn't read"),
    "no-workers": Word("No workers", "warn", "warn", "Only the leader's template runs"),
    "deprecated": Word("Deprecated mode", "warn", "warn", "It runs MultiNode"),
    "drift": Word("Drift", "warn", "warn", "What runs isn't what the rules say today"),
}

MIGRATION = {
    "at-risk": Word("At risk", "bad", "cross", "OMENative, and its runtime still uses LeaderWorkerSet's variables"),
    "waiting-on-pin": Word("Waiting on a pin", "warn", "warn", "Annotated, and held on the LeaderWorkerSet"),
    "moved-by-upgrade": Word(
        "Moved by an upgrade", "warn", "warn", "OMENative by shape, the LeaderWorkerSet still there"
    ),
    "cleanup-due": Word("Cleanup due", "warn", "warn", "Moved, and the LeaderWorkerSet is still there"),
    "not-started": Word("Not started", "plain", "dash", "It runs on a LeaderWorkerSet"),
    "done": Word("Done", "good", "check", "It runs on an InferenceReplica alone"),
}

ADMISSION = {
    "refused": Word("Would be refused", "bad", "cross", "The webhook would refuse its next change"),
}

OBJECTS = {
    "unreadable": Word("Unreadable", "bad", "cross", "A field holds another type than OME's API says"),
    "broken-chain": Word("Broken inheritance", "bad", "cross", "Its parents can't be followed"),
}

SEVERITIES = {
    "error": Word("Error", "bad", "cross", "It can't work as written"),
    "warning": Word("Warning", "warn", "warn", "It may not be meant"),
    "info": Word("Info", "plain", "info", "Worth knowing"),
    "off": Word("Off", "quiet", "dash", "This installation doesn't want to see it"),
}

FINDINGS = {
    "empty-range": Word("Empty size range", title="The lower bound is above the upper one"),
    "open-range": Word("Open size range", title="OME v1.2 needs both bounds"),
    "version-unparsable": Word("Unreadable version", title="OME can't read it, so it never matches"),
    "size-unparsable": Word("Unreadable size", title="OME can't read it and takes it for 0"),
    "entry-without-format": Word("Entry without a format", title="It matches no model"),
    "entry-architecture-missing": Word("Architecture missing", title="Every model of its format has an architecture"),
    "operator-unknown": Word("Unknown operator", title="It compares for equality"),
    "size-not-finite": Word("Size without an end", title="Infinite or not a number: it has no defined rank"),
    "auto-select-inherits": Word("Selected without its parents", title="Automatic selection doesn't inherit"),
    "mode-ignored": Word("Mode not read", title="A deployment mode that OME doesn't read"),
    "model-kind-elsewhere": Word("Model of another kind", title="The controller doesn't find the model"),
    "runtime-kind-elsewhere": Word("Runtime in both scopes", title="The kind decides which runtime is meant"),
    "overlap": Word("Only the name decides", title="Another runtime ranks the same but for its name"),
    "shadowed": Word("Never first", title="Others come before it for every model"),
    "zero-weight": Word("Weight 0", title="It counts as more than 1"),
}

WORKLOADS = {
    "left-over": Word("Left over", "warn", "warn", "A workload that today's answer doesn't ask for"),
}

CHANGES = {
    "service": Word("Service", title="A service came or went"),
    "outcome": Word("Outcome", title="What OME answers for a service"),
    "runtime": Word("Runtime", title="The runtime that a service gets"),
    "mode": Word("Mode", title="The deployment mode that a component runs in"),
    "conflict": Word("Conflict", title="A mode conflict appeared or was gone"),
}

ACTS = {
    "created": Word("created"),
    "changed": Word("changed"),
    "recreated": Word("recreated", title="Deleted, and another object of that name created"),
    "deleted": Word("deleted"),
}

CLUSTERS = {
    "unreached": Word("Not reached", "bad", "cross", "The last attempt to read it failed"),
    "left": Word("Nobody follows it", "warn", "warn", "It is to be followed, and no process does"),
    "starting": Word("Being read", "plain", "info", "A process has begun to follow it"),
    "partly": Word("In part", "warn", "warn", "Some kinds couldn't be read, or aren't watched now"),
    "live": Word("Live", "good", "check", "Every kind that it has is watched"),
    "once": Word("Not followed", "plain", "dash", "It was read, and changes aren't noticed"),
    "never": Word("Not read yet", "plain", "dash", "Nothing is known of it"),
}

UPGRADES = {
    "no-go": Word("No-go", "bad", "cross", "Something would not serve, or could not be changed"),
    "go": Word("Go", "good", "check", "Nothing that runs would change"),
    "blocks": Word("Blocks", "bad", "cross", "Something doesn't serve any more, or can't be changed any more"),
    "decide": Word("To decide", "warn", "warn", "It serves otherwise, or not for a while"),
    "know": Word("To know", "plain", "info", "Nothing that runs changes"),
    "breaks-lws": Word("Breaks without LWS_*", "bad", "cross", "Its pods don't find their leader"),
    "impossible-mode": Word("Impossible mode", "bad", "cross", "The component can't run in it"),
    "loses-runtime": Word("Loses its runtime", "bad", "cross", "v1.3 gives it none"),
    "keda-annotation": Word("KEDA annotation", "bad", "cross", "It stops working, and the reconcile fails"),
    "leader-without-worker": Word("Leader without worker", "bad", "cross", "v1.3's webhook refuses it"),
    "refused-now": Word("Refused", "bad", "cross", "v1.3's webhook refuses its next change"),
    "moves-by-shape": Word("Moves by its shape", "warn", "warn", "OMENative at once, because of a leader or worker"),
    "ray-becomes": Word("Ray ends", "warn", "warn", "MultiNodeRayVLLM is no mode on v1.3"),
    "mode-starts-to-count": Word("Mode begins to count", "warn", "warn", "v1.2 doesn't read it"),
    "mode-changes": Word("Mode changes", "warn", "warn", "Because of what v1.3 makes of its runtime"),
    "another-runtime": Word("Another runtime by name", "warn", "warn", "The name is there in both scopes"),
    "selection-differs": Word("Another runtime selected", "warn", "warn", "v1.3 selects another one"),
    "gets-runtime": Word("Gets a runtime", "warn", "warn", "It begins to run"),
    "selection-recovers": Word("Selection recovers", "warn", "warn", "v1.2's selector breaks down over it"),
    "inherits-now": Word("Begins to inherit", "warn", "warn", "Its pods are rendered from other fields"),
    "workers-dropped": Word("Top-level workers dropped", "warn", "warn", "v1.3 has no such field"),
    "field-dropped": Word("Field dropped", "warn", "warn", "v1.3 has no such field"),
    "runtime-refused": Word("Runtime refused", "warn", "warn", "v1.3's webhook refuses its next change"),
    "another-runtime-when-unpinned": Word("Another runtime once unpinned", title="Not while it follows a revision"),
    "admitted-now": Word("Admitted", title="v1.2's webhook refuses it"),
    "advice-differs": Word("Other advice", title="The runtime stays"),
    "warns-now": Word("Warned", title="v1.3's webhook says more"),
    "outcome-differs": Word("Another reason", title="No runtime on either"),
    "admission-words": Word("Other words", title="The answer is the same"),
    "inherit-from-counts": Word("inherit-from begins to count", title="v1.2 doesn't read it"),
    "open-range-counts": Word("One bound is enough", title="v1.2's selector breaks down over it"),
}

TURNS = {
    "present": Word("There", title="It was there when its cluster was last judged"),
    "back": Word("Back", "warn", "warn", "It was gone, and is there again"),
    "gone": Word("Gone", "good", "check", "It isn't there any more"),
    "changed": Word("Changed", "plain", "info", "What it rests on became another"),
    "seen": Word("Seen", title="It was seen for the first time"),
    "any": Word("There or gone"),
}

DECISIONS = {
    "open": Word("Open", title="Nobody has decided"),
    "in-progress": Word("In progress", "plain", "info", "Somebody is at it"),
    "accepted": Word("Accepted", "good", "check", "It stays as it is, for a reason and until a day"),
    "fixed": Word("Fixed", "good", "check", "It isn't there any more"),
    "lapsed": Word("Lapsed", "warn", "warn", "It was accepted, and that doesn't hold any more"),
}

LAPSES = {
    "expired": Word("Expired", "warn", "warn", "The day until which it was accepted is past"),
    "evidence-changed": Word("Another case", "warn", "warn", "What it rests on became another after it was accepted"),
}

DID = {
    "owned": Word("set the owner"),
    "decided": Word("decided"),
    "handled": Word("set owner and decision"),
    "undone": Word("took back what was done"),
    "commented": Word("commented"),
    "edited": Word("edited a comment"),
    "removed": Word("took a comment away"),
    "review-opened": Word("opened the review"),
    "review-refreshed": Word("brought the review up to date"),
    "review-closed": Word("closed the review"),
    "review-reopened": Word("opened the review again"),
    "answered": Word("answered an item"),
    "signed": Word("signed"),
    "signature-withdrawn": Word("withdrew a signature"),
    "participants-added": Word("added participants"),
    "participant-removed": Word("removed a participant"),
    "make-account": Word("made the account"),
    "set-groups": Word("set the groups"),
    "keep-out": Word("kept the account out"),
    "let-in": Word("let the account in again"),
    "make-link": Word("made a link to set a password"),
    "end-wait": Word("ended the wait before signing in"),
    "make-token": Word("made a token"),
    "revoke-token": Word("revoked a token"),
    "role-given": Word("gave a role"),
    "role-taken": Word("took a role back"),
    "severity-set": Word("set the severity"),
    "cluster-declared": Word("had the cluster followed"),
    "cluster-described": Word("changed the cluster's settings"),
    "cluster-stopped": Word("stopped following the cluster"),
    "cluster-forgotten": Word("forgot the cluster"),
}
"""What people did, as the record has it: who comes before, the subject after."""

VIA = {"page": Word("on a page"), "api": Word("by the REST interface"), "command": Word("by a command")}

KINDS_OF_FINDING = {
    "outcome": Word("Selection"),
    "conflict": Word("Mode conflicts"),
    "migration": Word("Migration"),
    "admission": Word("Admission"),
    "object": Word("Objects"),
    "workload": Word("Workloads"),
    "upgrade": Word("Upgrade"),
    "finding": Word("Rules"),
}

WHAT_IF = {
    "worse": Word("Worse off", "bad", "cross", "It doesn't serve, can't be changed, or disagrees with itself"),
    "different": Word("Otherwise", "warn", "warn", "It serves as well, and otherwise"),
    "better": Word("Better off", "good", "check", "It serves, can be changed, or agrees again"),
    "loses-runtime": Word("Loses its runtime", "bad", "cross"),
    "refused-now": Word("Refused", "bad", "cross", "The webhook would refuse it"),
    "conflict-appears": Word("A conflict appears", "bad", "cross"),
    "another-runtime": Word("Another runtime", "warn", "warn"),
    "mode-changes": Word("Mode changes", "warn", "warn"),
    "spec-differs": Word("Rendered anew", "warn", "warn", "The same runtime with another spec"),
    "component-gone": Word("Component gone", "warn", "warn"),
    "component-added": Word("Component added", "plain", "info"),
    "deleted": Word("Deleted", "plain", "dash"),
    "added": Word("Added", "plain", "info"),
    "outcome-differs": Word("Another outcome", "warn", "warn"),
    "model-differs": Word("Another model", "warn", "warn"),
    "admission-differs": Word("Admission says otherwise", "plain", "info"),
    "gets-runtime": Word("Gets a runtime", "good", "check"),
    "admitted-now": Word("Admitted", "good", "check", "The webhook refuses it as it stands"),
    "conflict-goes": Word("A conflict goes", "good", "check"),
    "changed": Word("Changed", "plain", "info"),
    "unchanged": Word("The same", "quiet", "dash", "Nothing in it that the rules read differs"),
    "not-there": Word("Not there", "warn", "warn", "There is nothing to delete"),
}
"""Tendencies, codes of changes, and what became of an object given; ``added`` and ``deleted`` are both."""

FAMILIES = {
    "act": ACTS,
    "change": CHANGES,
    "decision": DECISIONS,
    "lapse": LAPSES,
    "did": DID,
    "via": VIA,
    "cluster": CLUSTERS,
    "outcome": OUTCOMES,
    "mode": MODES,
    "source": SOURCES,
    "check": CHECKS,
    "conflict": CONFLICTS,
    "migration": MIGRATION,
    "admission": ADMISSION,
    "object": OBJECTS,
    "severity": SEVERITIES,
    "finding": FINDINGS,
    "upgrade": UPGRADES,
    "what-if": WHAT_IF,
    "workload": WORKLOADS,
    "turn": TURNS,
    "family": KINDS_OF_FINDING,
    "review": {code: Word(*told) for code, told in words_reviews.REVIEWS.items()},
    "answer": {code: Word(*told) for code, told in words_reviews.ANSWERS.items()},
    "differs": {code: Word(*told) for code, told in words_reviews.DIFFERS.items()},
}
"""The words by family: what :func:`word`, and with it every badge, takes. ``code`` comes below."""


def _in_the_stream(family: str, found: Word) -> Word:
    """A code's word where codes of all families stand side by side."""
    return found._replace(label=f"Upgrade: {found.label}") if family == "upgrade" else found


FAMILIES["code"] = {each.code: _in_the_stream(each.family, FAMILIES[each.family][each.code]) for each in CODES.values()}


def word(family: str, code: str) -> Word:
    """The word for a code of a family.

    Families: outcome, mode, source, check, conflict, migration, admission, object, severity, finding,
    change, act, cluster, upgrade and workload; ``code`` has those of all findings, ``family`` the families of
    findings, and ``turn`` what becomes of one; ``decision``, ``lapse`` and ``did`` what people do with it.

    >>> word("outcome", "auto-selected").label, word("mode", "Serverless").label
    ('Selected', 'Serverless')
    """
    return FAMILIES[family].get(code) or Word(code)
