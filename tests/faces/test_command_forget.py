"""``manage.py forget`` removes one cluster and nothing of the others."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from selection.store.models import Cluster, ServiceResult, StoredObject

pytestmark = pytest.mark.django_db


def test_it_removes_one_cluster_and_leaves_the_other() -> None:
    call_command("demo", stdout=StringIO())
    kept = set(ServiceResult.objects.filter(cluster__name="us-lab").values_list("pk", flat=True))
    out = StringIO()
    call_command("forget", "eu-prod", stdout=out)
    assert out.getvalue().startswith("eu-prod: forgotten, with ")
    assert list(Cluster.objects.values_list("name", flat=True)) == ["us-lab"]
    assert not StoredObject.objects.exclude(cluster__name="us-lab").exists()
    assert set(ServiceResult.objects.values_list("pk", flat=True)) == kept


def test_it_names_near_clusters_when_there_is_none_of_that_name() -> None:
    call_command("demo", stdout=StringIO())
    with pytest.raises(CommandError, match="eu-prod"):
        call_command("forget", "eu-prd")
