"""A week of syncs, edits and answers in a random order: no answer goes to another finding, and no word is lost."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import pytest

from selection.people.models import ActRecord, Handling, Review, ReviewItem
from selection.people.review_states import standings_of, state_of
from selection.people.reviews import Reply, answer, refresh, sign
from selection.people.writing import Refused, Stale
from selection.store.models import Cluster, Finding
from tests.people.review_fleet import opened, read, soon
from tests.people.writers import by
from tests.store.builders import Manifest, model, runtime, service

pytestmark = pytest.mark.django_db

SERVICES = [f"svc-{number}" for number in range(6)]
PEOPLE = [by("ada"), by("bob"), by("carl")]


def some_service(chance: random.Random, name: str) -> Manifest:
    """A service that may have no model, and a mode that may not be one."""
    named = chance.choice(["llama", "missing", "gone"])
    mode = chance.choice(["", "MultiNode", "OMENative", "nonsense"])
    engine = {"annotations": {"ome.io/deploymentMode": mode}} if mode else {"minReplicas": chance.randint(0, 2)}
    namespace = "hr" if name in SERVICES[:2] else "ml"
    return service(name, namespace, model={"name": named}, engine=engine)


def edited(chance: random.Random, objects: dict[str, Manifest]) -> None:
    """One edit of somebody in the cluster."""
    name = chance.choice(SERVICES)
    what = chance.random()
    if what < 0.25:
        objects.pop(name, None)
    elif what < 0.35:
        objects["sglang"] = runtime("sglang", disabled=chance.random() < 0.5)
    elif what < 0.45 and name in objects:
        objects[name]["status"] = {"url": f"http://{chance.random()}"}
    else:
        objects[name] = some_service(chance, name)


def hours(chance: random.Random) -> Iterator[str]:
    """What happens in each of a week's hours in which something happens."""
    for _ in range(45):
        yield chance.choices(["edit", "answer", "refresh", "sign", "forget"], [10, 14, 4, 2, 1])[0]


@pytest.mark.parametrize("seed", range(3))
def test_a_week(seed: int) -> None:
    chance = random.Random(seed)
    objects = {each["metadata"]["name"]: each for each in (model(), runtime("vllm"), runtime("sglang"))}
    objects |= {name: some_service(chance, name) for name in SERVICES}
    read(objects)
    review = opened(PEOPLE[0])
    said: dict[str, str] = {}
    """By the words that were answered, the finding's name as it stands in them."""
    looked = list(ReviewItem.objects.filter(review=review))

    for number, what in enumerate(hours(chance)):
        writer = chance.choice(PEOPLE)
        if what == "edit":
            edited(chance, objects)
            read(objects)
        elif what == "forget":
            Cluster.objects.all().delete()
            with pytest.raises(Refused):
                refresh(writer, review, Review.objects.get(pk=review.pk).version)
            read(objects)
        elif what == "answer" and looked:
            item = chance.choice(looked)  # perhaps as it was long ago
            words = f"{number}: {item.code} {item.name} {item.evidence}"
            reply = chance.choice(
                [Reply("fine", reason=words), Reply("accepted", reason=words, expires_on=soon()),
                 Reply("needs-change", owner=writer.person.name, reason=words)]
            )  # fmt: skip
            try:
                answer(writer, item, reply, item.version, item.evidence)
                said[words] = item.key
            except (Stale, Refused):
                pass
        elif what == "refresh":
            refresh(writer, review, Review.objects.get(pk=review.pk).version)
        elif what == "sign":
            try:
                sign(writer, review, Review.objects.get(pk=review.pk).version)
            except Refused:
                assert state_of(review).state in {"open", "stale", "ready", "signed"}
        if chance.random() < 0.5:
            looked = list(ReviewItem.objects.filter(review=review))
        check(review, said)
    assert said, "nobody answered anything"


def check(review: Review, said: dict[str, str]) -> None:
    """Every answer stands at its finding and its evidence, and every word that was said is somewhere."""
    for item in ReviewItem.objects.filter(review=review).exclude(answer=""):
        assert said[item.reason] == item.key
        assert item.reason.partition(": ")[2] == f"{item.code} {item.name} {item.evidence}"
    for handling in Handling.objects.exclude(reason=""):
        assert said[handling.reason] == handling.key
    record = json.dumps([[act.before, act.after] for act in ActRecord.objects.all()])
    for words in said:
        assert words in record
    row = Review.objects.prefetch_related("places").get(pk=review.pk)
    short, whole = standings_of([row])[row.pk], state_of(row)
    assert (short.state, short.signed) == (whole.state, len(whole.signatures))
    there = Finding.objects.filter(gone_at=None, cluster__name="east")
    same = {(each.key, each.evidence) for each in there} == {
        (item.key, item.evidence) for item in ReviewItem.objects.filter(review=review)
    }
    if not same:
        assert whole.state == "stale"
