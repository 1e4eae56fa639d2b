"""The merge of inherited specs. Kubernetes' own Go code gives the same results as the tables here."""

from __future__ import annotations

import contextlib
import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selection.rules.merge import MergeError, WrongType, kind_changes, merge_specs
from selection.rules.typed_fields import SPEC, Type, fields_of, normalised_spec

Spec = dict[str, Any]


def engine(**fields: Any) -> Spec:
    return {"engineConfig": fields}


def runner(**fields: Any) -> Spec:
    return {"engineConfig": {"runner": {"name": "main", **fields}}}


def merged_engine(*specs: Spec) -> Any:
    return merge_specs(specs)["engineConfig"]


def merged_runner(*specs: Spec) -> Any:
    return merged_engine(*specs)["runner"]


# What is left of one spec that went through OME's types.
NORMALISED: list[tuple[Spec | None, Spec]] = [
    ({}, {"containers": None}),
    (None, {"containers": None}),
    # unknown fields vanish, also those that differ in case
    ({"colour": "red", "Disabled": True, "$patch": "delete"}, {"containers": None}),
    # empty values of fields with omitempty vanish unless they are pointers
    ({"hostNetwork": False, "dnsPolicy": "", "labels": {}, "tolerations": []}, {"containers": None}),
    ({"disabled": False, "modelSizeRange": {"min": ""}}, {"disabled": False, "modelSizeRange": {"min": ""}}),
    (engine(leader={}, minReplicas=0, maxReplicas=0), engine(leader={}, minReplicas=0)),
    # what maps hold stays, and null in it is empty text
    ({"labels": {"a": "", "b": None}}, {"labels": {"a": "", "b": ""}}),
    # required fields are written even when nobody set them, and so are objects that are no pointers
    (engine(runner={}), engine(runner={"name": "", "resources": {}})),
    ({"supportedModelFormats": [{}]}, {"supportedModelFormats": [{"name": "", "modelFormat": None}]}),
    ({"workers": {}}, {"workers": {"containers": None, "size": None}}),
    ({"containers": []}, {"containers": []}),
    (
        runner(readinessProbe={"httpGet": {}, "grpc": {}}),
        runner(
            readinessProbe={"httpGet": {"port": 0}, "grpc": {"port": 0, "service": None}},
            resources={},
        ),
    ),
    # null in a list is its zero
    (runner(args=["a", None]), runner(args=["a", ""], resources={})),
    ({"containers": [None]}, {"containers": [{"name": "", "resources": {}}]}),
    # numbers and quantities in the form that Go writes
    (engine(minReplicas=2.0), engine(minReplicas=2)),
    (
        runner(resources={"limits": {"cpu": 0.5, "memory": "1024Gi", "nvidia.com/gpu": 8}}),
        runner(resources={"limits": {"cpu": "500m", "memory": "1Ti", "nvidia.com/gpu": "8"}}),
    ),
    # a volume's claim template keeps nothing of its metadata
    (
        {"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"metadata": {"labels": {"a": "b"}}}}}]},
        {
            "volumes": [
                {
                    "name": "v",
                    "ephemeral": {
                        "volumeClaimTemplate": {"metadata": {"creationTimestamp": None}, "spec": {"resources": {}}}
                    },
                }
            ]
        },
    ),
    (
        runner(env=[{"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}]),
        runner(
            env=[{"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}}}],
            resources={},
        ),
    ),
]


@pytest.mark.parametrize(("written", "kept"), NORMALISED)
def test_one_spec_is_left_as_ome_writes_it(written: Spec | None, kept: Spec) -> None:
    assert merge_specs([written]) == {"containers": None} | kept


# A parent, a child, and what the child has; beside them the field that tells.
OVERRIDES: list[tuple[Spec, Spec, str, Any]] = [
    # what the child leaves out, sets to null or sets empty is the parent's
    ({"hostNetwork": True}, {}, "hostNetwork", True),
    ({"hostNetwork": True}, {"hostNetwork": None}, "hostNetwork", True),
    ({"hostNetwork": True}, {"hostNetwork": False}, "hostNetwork", True),
    ({"dnsPolicy": "Default"}, {"dnsPolicy": ""}, "dnsPolicy", "Default"),
    ({"tolerations": [{"key": "a"}]}, {"tolerations": []}, "tolerations", [{"key": "a"}]),
    ({"labels": {"a": "1"}}, {"labels": {}}, "labels", {"a": "1"}),
    ({"containers": [{"name": "a"}]}, {}, "containers", [{"name": "a", "resources": {}}]),
    ({"containers": [{"name": "a"}]}, {"containers": []}, "containers", [{"name": "a", "resources": {}}]),
    # pointers override also with empty values
    ({"disabled": True}, {"disabled": False}, "disabled", False),
    ({"disabled": True}, {"disabled": None}, "disabled", True),
    ({"modelSizeRange": {"min": "1B", "max": "9B"}}, {"modelSizeRange": {"min": ""}}, "modelSizeRange", None),
    # maps merge by key, empty values too
    ({"labels": {"a": "1", "b": "1"}}, {"labels": {"b": "", "c": "2"}}, "labels", {"a": "1", "b": "", "c": "2"}),
    # lists without a merge key are replaced
    ({"protocolVersions": ["a", "b"]}, {"protocolVersions": ["c"]}, "protocolVersions", ["c"]),
    ({"tolerations": [{"key": "a"}]}, {"tolerations": [{"key": "b"}]}, "tolerations", [{"key": "b"}]),
]


@pytest.mark.parametrize(("parent", "child", "field", "value"), OVERRIDES)
def test_a_child_overrides_only_what_it_sets(parent: Spec, child: Spec, field: str, value: Any) -> None:
    expected = value if value is not None else {"min": "", "max": "9B"}
    assert merge_specs([parent, child])[field] == expected


def test_supported_formats_and_classes_are_replaced_as_a_whole() -> None:
    parent = {
        "supportedModelFormats": [{"modelFormat": {"name": "a", "weight": 2}}, {"modelFormat": {"name": "b"}}],
        "acceleratorRequirements": {"acceleratorClasses": ["h100", "a100"], "minMemory": 40},
    }
    child = {
        "supportedModelFormats": [{"modelFormat": {"name": "c"}}],
        "acceleratorRequirements": {"acceleratorClasses": ["b200"]},
    }
    merged = merge_specs([parent, child])
    assert merged["supportedModelFormats"] == [{"name": "", "modelFormat": {"name": "c"}}]
    assert merged["acceleratorRequirements"] == {"acceleratorClasses": ["b200"], "minMemory": 40}


def test_an_empty_object_of_a_pointer_adds_it() -> None:
    assert merged_engine(engine(minReplicas=1), engine(leader={}, worker={})) == {
        "minReplicas": 1,
        "leader": {},
        "worker": {},
    }


def test_a_required_field_that_the_child_omits_overrides_with_its_zero() -> None:
    parent = runner(livenessProbe={"httpGet": {"path": "/health", "port": 8080}})
    child = {"engineConfig": {"runner": {"livenessProbe": {"httpGet": {"path": "/ready"}}}}}
    merged = merged_runner(parent, child)
    assert merged["name"] == ""
    assert merged["livenessProbe"]["httpGet"] == {"path": "/ready", "port": 0}


def test_a_required_pointer_that_the_child_omits_stays_the_parents() -> None:
    parent = runner(livenessProbe={"grpc": {"port": 1, "service": "a"}})
    merged = merged_runner(parent, runner(livenessProbe={"grpc": {"port": 2}}))
    assert merged["livenessProbe"]["grpc"] == {"port": 2, "service": "a"}


def test_a_port_changes_between_number_and_name() -> None:
    parent = runner(livenessProbe={"httpGet": {"port": 8080}})
    merged = merged_runner(parent, runner(livenessProbe={"httpGet": {"port": "http"}}))
    assert merged["livenessProbe"]["httpGet"]["port"] == "http"


def test_items_of_one_key_merge_field_by_field_and_inside_each_other() -> None:
    parent = {
        "containers": [
            {"name": "a", "image": "one", "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "1"}]},
            {"name": "b"},
        ]
    }
    child = {"containers": [{"name": "a", "args": ["go"], "env": [{"name": "Y", "value": "2"}, {"name": "Z"}]}]}
    first, second = merge_specs([parent, child])["containers"]
    assert second["name"] == "b"
    assert (first["image"], first["args"]) == ("one", ["go"])
    assert first["env"] == [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}, {"name": "Z"}]


KEYED = [
    ("runner.env", "name", ["a", "b"]),
    ("runner.ports", "containerPort", [1, 2]),
    ("runner.volumeMounts", "mountPath", ["/a", "/b"]),
    ("runner.volumeDevices", "devicePath", ["/a", "/b"]),
    ("volumes", "name", ["a", "b"]),
    ("initContainers", "name", ["a", "b"]),
    ("imagePullSecrets", "name", ["a", "b"]),
    ("hostAliases", "ip", ["10.0.0.1", "10.0.0.2"]),
    ("topologySpreadConstraints", "topologyKey", ["zone", "host"]),
]


@pytest.mark.parametrize(("path", "key", "values"), KEYED)
def test_these_lists_merge_by_their_key(path: str, key: str, values: list[Any]) -> None:
    def with_items(*items: Spec) -> Spec:
        name = path.removeprefix("runner.")
        return runner(**{name: list(items)}) if path.startswith("runner.") else engine(**{name: list(items)})

    merged = merged_engine(with_items({key: values[0]}, {key: values[1]}), with_items({key: values[1]}))
    found = merged["runner"] if path.startswith("runner.") else merged
    assert [item[key] for item in found[path.removeprefix("runner.")]] == values


# parent's names, child's names, merged names
ORDERS = [
    ("abc", "", "abc"),
    ("", "abc", "abc"),
    ("abc", "d", "dabc"),  # a stranger's place in the parent's list isn't known, so it goes first
    ("abc", "b", "abc"),
    ("abc", "c", "abc"),
    ("abc", "cb", "acb"),
    ("abc", "ca", "bca"),
    ("abc", "bd", "abdc"),
    ("abc", "db", "dabc"),
    ("abcd", "dxb", "acdxb"),
    ("abcdef", "fxc", "abdefxc"),
]


@pytest.mark.parametrize(("parent", "child", "merged"), ORDERS)
def test_a_merged_list_is_ordered_as_kubernetes_orders_it(parent: str, child: str, merged: str) -> None:
    specs = [{"volumes": [{"name": name} for name in names]} for names in (parent, child)]
    assert "".join(item["name"] for item in merge_specs(specs).get("volumes", [])) == merged


def test_a_key_that_stands_twice_merges_into_its_first_place() -> None:
    parent = {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "a", "nfs": {"server": "s", "path": "/"}}]}
    child = {"volumes": [{"name": "a", "emptyDir": {"medium": "Memory"}}, {"name": "b"}, {"name": "b", "emptyDir": {}}]}
    assert merge_specs([parent, child])["volumes"] == [
        {"name": "a", "emptyDir": {"medium": "Memory"}},
        {"name": "a", "nfs": {"server": "s", "path": "/"}},
        {"name": "b", "emptyDir": {}},
    ]


def test_an_item_without_its_key_can_not_be_merged() -> None:
    specs = [engine(imagePullSecrets=[{"name": "a"}]), engine(imagePullSecrets=[{"name": ""}])]
    with pytest.raises(MergeError) as caught:
        merge_specs(specs)
    assert caught.value.path == "spec.engineConfig.imagePullSecrets"
    assert caught.value.message == "map: map[] does not contain declared merge key: name"
    assert merge_specs(specs[1:])["engineConfig"]["imagePullSecrets"] == [{}]


def test_orders_to_the_merge_work_only_in_maps() -> None:
    parent = {"labels": {"a": "1"}, "nodeSelector": {"a": "1"}, "annotations": {"a": "1"}}
    child = {"labels": {"$patch": "replace", "b": "2"}, "nodeSelector": {"$patch": "delete"}, "$patch": "delete"}
    merged = merge_specs([parent, child])
    assert (merged["labels"], merged.get("nodeSelector"), merged["annotations"]) == ({"b": "2"}, None, {"a": "1"})
    assert "labels" not in merge_specs([{}, child])
    for key, value in [("$patch", "merge"), ("$retainKeys", "a"), ("$setElementOrder/a", "a")]:
        with pytest.raises(MergeError):
            merge_specs([parent, {"labels": {key: value}}])


def test_large_numbers_of_a_child_lose_digits_as_they_do_in_ome() -> None:
    number = 2**53 + 1
    spec = {"acceleratorRequirements": {"minMemory": number}}
    assert merge_specs([spec])["acceleratorRequirements"]["minMemory"] == number
    assert merge_specs([{}, spec])["acceleratorRequirements"]["minMemory"] == number - 1


def test_a_chain_of_five_is_merged_from_the_root() -> None:
    specs: list[Spec] = [{"labels": {str(at): "x", "last": str(at)}, **engine(minReplicas=at)} for at in range(5)]
    merged = merge_specs(specs)
    assert merged["labels"] == {"0": "x", "1": "x", "2": "x", "3": "x", "4": "x", "last": "4"}
    assert merged["engineConfig"]["minReplicas"] == 4


WRONG = [
    ([], "spec"),
    ({"disabled": "no"}, "spec.disabled"),
    ({"disabled": 1}, "spec.disabled"),
    ({"labels": ["a"]}, "spec.labels"),
    ({"labels": {"a/b": 1}}, 'spec.labels["a/b"]'),
    ({1: "x"}, "spec"),
    ({"containers": {}}, "spec.containers"),
    ({"containers": ["a"]}, "spec.containers[0]"),
    (engine(minReplicas="1"), "spec.engineConfig.minReplicas"),
    (engine(minReplicas=True), "spec.engineConfig.minReplicas"),
    (engine(minReplicas=1.5), "spec.engineConfig.minReplicas"),
    (engine(priority=2**31), "spec.engineConfig.priority"),
    (engine(minReplicas=2**63), "spec.engineConfig.minReplicas"),
    (engine(minReplicas=10**5000), "spec.engineConfig.minReplicas"),
    (runner(args=[1]), "spec.engineConfig.runner.args[0]"),
    (runner(resources={"limits": {"cpu": "much"}}), "spec.engineConfig.runner.resources.limits.cpu"),
    (runner(resources={"limits": {"cpu": True}}), "spec.engineConfig.runner.resources.limits.cpu"),
    (runner(livenessProbe={"tcpSocket": {"port": 1.5}}), "spec.engineConfig.runner.livenessProbe.tcpSocket.port"),
]


@pytest.mark.parametrize(("spec", "path"), WRONG)
def test_a_wrong_type_is_told_with_its_path_and_its_member(spec: Any, path: str) -> None:
    with pytest.raises(WrongType) as caught:
        merge_specs([{}, spec])
    assert (caught.value.path, caught.value.member) == (path, 1)
    assert str(caught.value).startswith(f"{path}: ")


def test_an_empty_chain_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        merge_specs([])


# Two kinds in one object.


def test_a_volume_that_changes_its_kind_is_reported_with_both() -> None:
    parent = {"volumes": [{"name": "own", "emptyDir": {}}, {"name": "dshm", "emptyDir": {"medium": "Memory"}}]}
    child = {"volumes": [{"name": "dshm", "hostPath": {"path": "/dev/shm"}}, {"name": "new", "emptyDir": {}}]}
    (change,) = kind_changes([{}, parent, child])
    assert change.path == "spec.volumes[1]"
    assert (change.name, change.kinds, change.members) == ("dshm", ("emptyDir", "hostPath"), (1, 2))


@pytest.mark.parametrize(
    ("parent", "child", "path", "kinds"),
    [
        (
            runner(env=[{"name": "A", "value": "1"}]),
            runner(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]),
            "spec.engineConfig.runner.env[0]",
            ("value", "valueFrom"),
        ),
        (
            runner(env=[{"name": "A", "valueFrom": {"secretKeyRef": {"key": "x"}}}]),
            runner(env=[{"name": "A", "valueFrom": {"configMapKeyRef": {"key": "x"}}}]),
            "spec.engineConfig.runner.env[0].valueFrom",
            ("configMapKeyRef", "secretKeyRef"),
        ),
        (
            runner(readinessProbe={"httpGet": {"port": 1}}),
            runner(readinessProbe={"grpc": {"port": 1}, "periodSeconds": 3}),
            "spec.engineConfig.runner.readinessProbe",
            ("grpc", "httpGet"),
        ),
        (
            runner(lifecycle={"preStop": {"exec": {"command": ["a"]}}}),
            runner(lifecycle={"preStop": {"sleep": {"seconds": 1}}}),
            "spec.engineConfig.runner.lifecycle.preStop",
            ("exec", "sleep"),
        ),
    ],
)
def test_other_kinds_are_reported_too(parent: Spec, child: Spec, path: str, kinds: tuple[str, ...]) -> None:
    assert [(change.path, change.kinds) for change in kind_changes([parent, child])] == [(path, kinds)]


def test_two_kinds_that_one_member_wrote_are_its_own_mistake() -> None:
    spec = {"volumes": [{"name": "a", "emptyDir": {}, "hostPath": {"path": "/"}}]}
    assert kind_changes([spec]) == ()
    assert kind_changes([spec, {"volumes": [{"name": "a", "emptyDir": {}}]}]) == ()


def test_an_item_of_the_same_kind_is_no_change() -> None:
    parent = {"volumes": [{"name": "a", "emptyDir": {}}]}
    assert kind_changes([parent, {"volumes": [{"name": "a", "emptyDir": {"medium": "Memory"}}]}]) == ()


# Properties.

FEW = settings(max_examples=60, deadline=None)  # a spec is much to draw
TEXT = st.sampled_from(["", "a", "b", "c"])


@st.composite
def typed(draw: st.DrawFn, type_: Type = SPEC, depth: int = 0) -> Any:
    """A value of a type of the table, now and then null or empty; keys of merged lists stand once."""
    match type_.shape:
        case "struct":
            fields = fields_of(type_)
            if not fields or depth > 8:
                return {}
            names = draw(st.lists(st.sampled_from(sorted(fields)), max_size=4 if depth < 5 else 1, unique=True))
            value = {}
            for name in names:
                found = draw(st.none() | typed(fields[name].type, depth + 1))
                key = fields[name].merge_key
                if key and found:
                    keyed = {item.get(key) or draw(key_value(key)): item for item in found}
                    found = [item | {key: each} for each, item in keyed.items()]
                value[name] = found
            return value
        case "list" | "map" if type_.element is not None:
            items = draw(st.lists(typed(type_.element, depth + 1), max_size=3))
            return items if type_.shape == "list" else {f"k{at}": item for at, item in enumerate(items)}
        case "bool":
            return draw(st.booleans())
        case "Quantity":
            return draw(st.sampled_from(["1", 1, "0.5", "1024Gi", "0", "1.500"]))
        case "IntOrString":
            return draw(st.sampled_from([0, 80, "http", ""]))
        case "string":
            return draw(TEXT)
        case _:
            return draw(st.sampled_from([0, 1, -1, 2**31 - 1]))


def key_value(key: str) -> st.SearchStrategy[Any]:
    return st.sampled_from([1, 2, 3]) if key == "containerPort" else st.sampled_from(["x", "y", "z"])


SPECS = typed()


def shuffled(value: Any) -> Any:
    """The same JSON with the keys of its objects the other way round."""
    if isinstance(value, dict):
        return {key: shuffled(item) for key, item in reversed(value.items())}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


@FEW
@given(SPECS)
def test_an_empty_child_changes_nothing(spec: Spec) -> None:
    assert merge_specs([spec, {}]) == normalised_spec(spec) == merge_specs([spec])


@FEW
@given(SPECS)
def test_normalising_again_changes_nothing(spec: Spec) -> None:
    once = normalised_spec(spec)
    assert normalised_spec(once) == once


@FEW
@given(SPECS, SPECS)
def test_the_same_child_twice_is_as_good_as_once(parent: Spec, child: Spec) -> None:
    assert merge_specs([parent, child, child]) == merge_specs([parent, child])


@FEW
@given(SPECS, SPECS, SPECS)
def test_a_merged_parent_stands_for_its_chain(root: Spec, parent: Spec, child: Spec) -> None:
    assert merge_specs([merge_specs([root, parent]), child]) == merge_specs([root, parent, child])


@FEW
@given(SPECS, SPECS)
def test_the_order_of_keys_does_not_matter_and_inputs_stay(parent: Spec, child: Spec) -> None:
    before = copy.deepcopy([parent, child])
    assert merge_specs([parent, child]) == merge_specs([shuffled(parent), shuffled(child)])
    assert [parent, child] == before


@FEW
@given(SPECS, SPECS)
def test_no_item_of_either_side_is_lost_from_a_merged_list(parent: Spec, child: Spec) -> None:
    names = [{item["name"] for item in normalised_spec(spec).get("volumes", [])} for spec in (parent, child)]
    assert {item["name"] for item in merge_specs([parent, child]).get("volumes", [])} == names[0] | names[1]


@FEW
@given(SPECS, SPECS)
def test_kinds_are_reported_only_where_they_stand(parent: Spec, child: Spec) -> None:
    assert kind_changes([parent]) == ()
    for change in kind_changes([parent, child]):
        assert len(change.kinds) == len(change.members) > 1
        assert set(change.members) == {0, 1}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
FIELD_NAMES = sorted(fields_of(SPEC))


@FEW
@given(st.dictionaries(st.sampled_from(FIELD_NAMES), JSON, max_size=3), SPECS)
def test_it_raises_nothing_but_wrong_types(broken: Spec, spec: Spec) -> None:
    for chain in ([broken], [spec, broken], [broken, spec]):
        with contextlib.suppress(WrongType):
            assert json.dumps(merge_specs(chain)) != "{}"
