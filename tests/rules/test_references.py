"""LeaderWorkerSet's variables and labels: where they are found, and what is written for OMENative."""

from __future__ import annotations

import copy
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selection.rules.references import Reference, find_references, omenative_edits, rewritten

LWS = "leaderworkerset.sigs.k8s.io"


def leader(**fields: Any) -> dict[str, Any]:
    return {"engineConfig": {"leader": {"runner": {"name": "main", **fields}}}}


def only(spec: dict[str, Any]) -> Reference:
    (found,) = find_references(spec)
    return found


def argument(text: str) -> tuple[str, str | None, str, str]:
    """What is found in one argument: the token, its replacement, the remedy and why."""
    found = only(leader(args=[text]))
    assert found.kind in {"variable", "selector", "text"}
    return found.token, found.replacement, found.remedy, found.explanation


VARIABLES = [
    # every spelling of a variable
    ("$(LWS_LEADER_ADDRESS):5000", "$(LWS_LEADER_ADDRESS)", "$(OME_LEADER_ADDRESS)"),
    ("--nnodes=$(LWS_GROUP_SIZE)", "$(LWS_GROUP_SIZE)", "$(OME_INSTANCE_POD_COUNT)"),
    ("$(LWS_WORKER_INDEX)", "$(LWS_WORKER_INDEX)", "$(OME_INSTANCE_POD_RANK)"),
    ("run ${LWS_GROUP_SIZE}", "${LWS_GROUP_SIZE}", "${OME_INSTANCE_POD_COUNT}"),
    ("run ${LWS_GROUP_SIZE:-1} now", "${LWS_GROUP_SIZE:-1}", "${OME_INSTANCE_POD_COUNT:-1}"),
    ("${LWS_LEADER_ADDRESS%%.*}", "${LWS_LEADER_ADDRESS%%.*}", "${OME_LEADER_ADDRESS%%.*}"),
    ("[ $LWS_WORKER_INDEX = 0 ]", "$LWS_WORKER_INDEX", "$OME_INSTANCE_POD_RANK"),
    ('"$LWS_LEADER_ADDRESS:80"', "$LWS_LEADER_ADDRESS", "$OME_LEADER_ADDRESS"),
    ('os.environ["LWS_GROUP_SIZE"]', "LWS_GROUP_SIZE", "OME_INSTANCE_POD_COUNT"),
    ("LWS_GROUP_SIZE", "LWS_GROUP_SIZE", "OME_INSTANCE_POD_COUNT"),
    ("${!LWS_GROUP_SIZE}", "${!LWS_GROUP_SIZE}", "${!OME_INSTANCE_POD_COUNT}"),
    ("${#LWS_LEADER_ADDRESS}", "${#LWS_LEADER_ADDRESS}", "${#OME_LEADER_ADDRESS}"),
    ("${LWS_GROUP_SIZE:?not set}", "${LWS_GROUP_SIZE:?not set}", "${OME_INSTANCE_POD_COUNT:?not set}"),
    ("${LWS_GROUP_SIZE-1}", "${LWS_GROUP_SIZE-1}", "${OME_INSTANCE_POD_COUNT-1}"),
    ('"%LWS_GROUP_SIZE%"', "LWS_GROUP_SIZE", "OME_INSTANCE_POD_COUNT"),
    ("$env:LWS_WORKER_INDEX", "LWS_WORKER_INDEX", "OME_INSTANCE_POD_RANK"),
    ("printenv LWS_GROUP_SIZE", "LWS_GROUP_SIZE", "OME_INSTANCE_POD_COUNT"),
    ("[[ -v LWS_GROUP_SIZE ]] && serve", "LWS_GROUP_SIZE", "OME_INSTANCE_POD_COUNT"),
    ("os.getenv('LWS_WORKER_INDEX', '0')", "LWS_WORKER_INDEX", "OME_INSTANCE_POD_RANK"),
    ("process.env.LWS_LEADER_ADDRESS", "LWS_LEADER_ADDRESS", "OME_LEADER_ADDRESS"),
    ("{{ env.LWS_LEADER_ADDRESS }}", "LWS_LEADER_ADDRESS", "OME_LEADER_ADDRESS"),
    ("tcp://$(LWS_LEADER_ADDRESS):29500", "$(LWS_LEADER_ADDRESS)", "$(OME_LEADER_ADDRESS)"),
    ("$(printenv LWS_LEADER_ADDRESS)", "LWS_LEADER_ADDRESS", "OME_LEADER_ADDRESS"),
    ("`echo $LWS_WORKER_INDEX`", "$LWS_WORKER_INDEX", "$OME_INSTANCE_POD_RANK"),
    ("export RANK=$LWS_WORKER_INDEX", "$LWS_WORKER_INDEX", "$OME_INSTANCE_POD_RANK"),
    ("$$$(LWS_GROUP_SIZE)", "$$$(LWS_GROUP_SIZE)", "$$$(OME_INSTANCE_POD_COUNT)"),
    # the shell gets one dollar of two, so this is a plain shell variable
    ("$${LWS_GROUP_SIZE}", "${LWS_GROUP_SIZE}", "${OME_INSTANCE_POD_COUNT}"),
]


@pytest.mark.parametrize(("text", "token", "replacement"), VARIABLES)
def test_a_known_variable_is_renamed_in_any_spelling(text: str, token: str, replacement: str) -> None:
    assert argument(text) == (token, replacement, "rename", "renamed")
    assert rewritten(leader(args=[text])) == leader(args=[text.replace(token, replacement)])


REWORKED = [
    # arithmetic of the shell
    ("$((LWS_GROUP_SIZE-1))", "LWS_GROUP_SIZE", "OME_INSTANCE_POD_COUNT", "arithmetic"),
    ("$(( $LWS_WORKER_INDEX * 8 ))", "$LWS_WORKER_INDEX", "$OME_INSTANCE_POD_RANK", "arithmetic"),
    ("$(( $(LWS_GROUP_SIZE) * 8 ))", "$(LWS_GROUP_SIZE)", "$(OME_INSTANCE_POD_COUNT)", "arithmetic"),
    ("n=`expr $LWS_GROUP_SIZE - 1`", "$LWS_GROUP_SIZE", "$OME_INSTANCE_POD_COUNT", "arithmetic"),
    ("let n=LWS_GROUP_SIZE-1", "LWS_GROUP_SIZE", "OME_INSTANCE_POD_COUNT", "arithmetic"),
    ("n=$[$LWS_GROUP_SIZE-1]", "$LWS_GROUP_SIZE", "$OME_INSTANCE_POD_COUNT", "arithmetic"),
    ("n=$((\n  LWS_GROUP_SIZE\n  - 1\n))", "LWS_GROUP_SIZE", "OME_INSTANCE_POD_COUNT", "arithmetic"),
    ("declare -i n=LWS_GROUP_SIZE-1", "LWS_GROUP_SIZE", "OME_INSTANCE_POD_COUNT", "arithmetic"),
    ('echo "$LWS_GROUP_SIZE - 1" | bc', "$LWS_GROUP_SIZE", "$OME_INSTANCE_POD_COUNT", "arithmetic"),
    ('bc <<< "$LWS_GROUP_SIZE - 1"', "$LWS_GROUP_SIZE", "$OME_INSTANCE_POD_COUNT", "arithmetic"),
    ('awk "BEGIN { print $LWS_GROUP_SIZE * 8 }"', "$LWS_GROUP_SIZE", "$OME_INSTANCE_POD_COUNT", "arithmetic"),
    # Kubernetes takes one of two dollars and expands nothing
    ("$$(LWS_GROUP_SIZE)", "$$(LWS_GROUP_SIZE)", "$$(OME_INSTANCE_POD_COUNT)", "escaped"),
    # what nobody documents
    ("$(LWS_NAME)", "$(LWS_NAME)", None, "unknown-variable"),
    ("${LWS_GROUP_SIZE_MAX}", "${LWS_GROUP_SIZE_MAX}", None, "unknown-variable"),
    ("env | grep LWS_", "LWS_", None, "unknown-variable"),
    ("echo ${!LWS_*}", "${!LWS_*}", None, "unknown-variable"),
    ("f'LWS_{name}'", "LWS_", None, "unknown-variable"),
    ("LWS_GROUP\\\n_SIZE", "LWS_GROUP", None, "unknown-variable"),
    # labels that have no simple counterpart
    (f"{LWS}/worker-index=1", f"{LWS}/worker-index", None, "worker-index"),
    (f"{LWS}/worker-index!=0", f"{LWS}/worker-index", None, "worker-index"),
    (f"{LWS}/worker-index=01", f"{LWS}/worker-index", None, "worker-index"),
    (f"{LWS}/worker-index in (0)", f"{LWS}/worker-index", None, "worker-index"),
    (f"kubectl get pods -l {LWS}/name=x", f"{LWS}/name", None, "no-counterpart"),
    (f"{LWS}/name=x", f"{LWS}/name", None, "no-counterpart"),
    (f"grep {LWS} file.", LWS, None, "text"),
    ("get leaderworkersets.leaderworkerset.x-k8s.io", "leaderworkersets.leaderworkerset.x-k8s.io", None, "text"),
    (r"{.labels.leaderworkerset\.sigs\.k8s\.io/name}", r"leaderworkerset\.sigs\.k8s\.io/name", None, "text"),
]


@pytest.mark.parametrize(("text", "token", "replacement", "explanation"), REWORKED)
def test_a_person_must_look_at_the_rest(text: str, token: str, replacement: str | None, explanation: str) -> None:
    assert argument(text) == (token, replacement, "rework", explanation)
    assert rewritten(leader(args=[text])) == leader(args=[text])  # a guess is told, and never written


@pytest.mark.parametrize(
    "text",
    [
        "MY_LWS_GROUP_SIZE",
        "lws_group_size",
        "LWS",
        "LeaderWorkerSet",
        "$(OME_LEADER_ADDRESS)",
        "OLWS_GROUP_SIZE",
        # letters that only look the same, or that make it another word
        "$ⅬWS_GROUP_SIZE",
        "ＬＷＳ_GROUP_SIZE",
        "LWS＿GROUP＿SIZE",
        "LẆS_GROUP_SIZE",
        "éLWS_GROUP_SIZE",
        "leadеrworkerset.sigs.k8s.io/worker-index=0",  # a Cyrillic letter
    ],
)
def test_other_names_are_left_alone(text: str) -> None:
    assert find_references(leader(args=[text])) == ()


SELECTORS = [
    (f"{LWS}/worker-index=0", "ome.io/runner=leader"),
    (f"{LWS}/worker-index==0", "ome.io/runner==leader"),
    (f"{LWS}/worker-index='0',a=b", "ome.io/runner='leader',a=b"),
    (f"component=engine {LWS}/worker-index=0 a=$(B)", "component=engine ome.io/runner=leader a=$(B)"),
    (f"component=engine,{LWS}/worker-index=0,a=$(B)", "component=engine,ome.io/runner=leader,a=$(B)"),
]


@pytest.mark.parametrize(("text", "written"), SELECTORS)
def test_the_selector_of_leaders_is_renamed(text: str, written: str) -> None:
    spec = {"routerConfig": {"runner": {"name": "router", "args": ["--selector", text]}}}
    found = only(spec)
    assert (found.path, found.component, found.container) == ("spec.routerConfig.runner.args[1]", "router", "router")
    assert (found.kind, found.remedy, found.explanation) == ("selector", "rename", "leader-selector")
    assert rewritten(spec)["routerConfig"]["runner"]["args"][1] == written


CUT = [
    (f"a=b {LWS}/name=x c=d", "a=b c=d"),
    (f"{LWS}/name=x,c=d", "c=d"),
    (f"a=b,{LWS}/name=x", "a=b"),
    (f"a=b,{LWS}/name=x,{LWS}/size=2", "a=b"),
    (f"{LWS}/name=x,{LWS}/size=2,a=b", "a=b"),
    (f"{LWS}/name=x,a=b,{LWS}/worker-index=0,{LWS}/size=2", "a=b,ome.io/runner=leader"),
    # the value of a flag
    (f"--selector=a=b,{LWS}/name=x", "--selector=a=b"),
    (f"--prefill-selector={LWS}/name=x,a!=b", "--prefill-selector=a!=b"),
    (f"route --decode-selector a=b {LWS}/size=2 c=$C --port 8", "route --decode-selector a=b c=$C --port 8"),
    (f"route --selector 'a=b {LWS}/name=x' \\\n --port 8", "route --selector 'a=b' \\\n --port 8"),
    (f"kubectl get pods -l {LWS}/name=x,a=b -o name", "kubectl get pods -l a=b -o name"),
    (
        f"--prefill-selector a=b {LWS}/size=2 --decode-selector {LWS}/size=2 {LWS}/worker-index=0",
        "--prefill-selector a=b --decode-selector ome.io/runner=leader",
    ),
]


@pytest.mark.parametrize(
    "text",
    [
        f"--selector={LWS}/name=x",
        f"--selector a=b && grep {LWS}/name=x file",
        f"--selector 'a=b' {LWS}/name=x",
        f"--selector a=b,{LWS}/name",
        f"--selector a=b,{LWS}/name in (x,y)",
        f"--selectors a=b,{LWS}/name=x",
    ],
)
def test_what_can_not_be_cut_for_sure_needs_a_person(text: str) -> None:
    assert {found.remedy for found in find_references(leader(args=[text]))} == {"rework"}
    assert rewritten(leader(args=[text])) == leader(args=[text])


@pytest.mark.parametrize(("text", "written"), CUT)
def test_other_keys_are_cut_from_a_selector(text: str, written: str) -> None:
    assert {found.remedy for found in find_references(leader(args=[text]))} <= {"delete", "rename"}
    assert rewritten(leader(args=[text])) == leader(args=[written])


def test_a_selector_of_nothing_else_needs_a_person() -> None:
    text = f"{LWS}/name=x,{LWS}/size=2"
    assert [found.remedy for found in find_references(leader(args=[text]))] == ["rework", "rework"]
    assert rewritten(leader(args=[text])) == leader(args=[text])


def test_a_text_of_several_lines_tells_the_line() -> None:
    script = f"set -e\nserve -n $LWS_GROUP_SIZE \\\n  -r $LWS_WORKER_INDEX\n\nroute -l {LWS}/worker-index=0\n"
    found = find_references(leader(command=["sh", "-c", script]))
    assert [(each.path, each.line) for each in found] == [
        ("spec.engineConfig.leader.runner.command[2]", line) for line in (2, 3, 5)
    ]
    assert only(leader(args=["$LWS_GROUP_SIZE\n"])).line is None


def test_several_in_one_text_are_told_in_their_order() -> None:
    found = find_references(leader(args=["$(LWS_LEADER_ADDRESS) $(LWS_NAME) $LWS_GROUP_SIZE"]))
    assert [each.token for each in found] == ["$(LWS_LEADER_ADDRESS)", "$(LWS_NAME)", "$LWS_GROUP_SIZE"]
    assert rewritten(leader(args=["$(LWS_LEADER_ADDRESS)$(LWS_NAME)$LWS_GROUP_SIZE"])) == leader(
        args=["$(OME_LEADER_ADDRESS)$(LWS_NAME)$OME_INSTANCE_POD_COUNT"]
    )


# Where a reference stands.


@pytest.mark.parametrize(
    ("spec", "path", "component", "container"),
    [
        (
            {"engineConfig": {"runner": {"args": ["$LWS_GROUP_SIZE"]}}},
            "spec.engineConfig.runner.args[0]",
            "engine",
            None,
        ),
        (
            {"decoderConfig": {"worker": {"containers": [{}, {"name": "side", "args": ["$LWS_GROUP_SIZE"]}]}}},
            "spec.decoderConfig.worker.containers[1].args[0]",
            "decoder",
            "side",
        ),
        (
            {"containers": [{"name": "main", "lifecycle": {"preStop": {"exec": {"command": ["$LWS_GROUP_SIZE"]}}}}]},
            "spec.containers[0].lifecycle.preStop.exec.command[0]",
            None,
            "main",
        ),
        (
            {"engine": {"worker": {"runner": {"name": 7, "args": ["$LWS_GROUP_SIZE"]}}}},
            "spec.engine.worker.runner.args[0]",
            "engine",
            None,
        ),
        (
            {"engineConfig": {"annotations": {"note/x": "$LWS_GROUP_SIZE"}}},
            'spec.engineConfig.annotations["note/x"]',
            "engine",
            None,
        ),
    ],
)
def test_a_reference_knows_its_place(
    spec: dict[str, Any], path: str, component: str | None, container: str | None
) -> None:
    found = only(spec)
    assert (found.path, found.component, found.container) == (path, component, container)
    assert not found.init_container


def test_the_base_of_the_paths_can_be_another() -> None:
    assert [each.path for each in find_references({"args": ["$LWS_GROUP_SIZE"]}, "spec.engine")] == [
        "spec.engine.args[0]"
    ]


def test_an_init_container_can_not_be_moved_by_renaming() -> None:
    env = [{"name": "RANK", "value": "$(LWS_WORKER_INDEX)"}, {"name": "LWS_GROUP_SIZE", "value": "2"}]
    spec = {
        "engineConfig": {"worker": {"initContainers": [{"name": "prepare", "args": ["$LWS_GROUP_SIZE"], "env": env}]}}
    }
    found = find_references(spec)
    assert len(found) == 3
    for each in found:
        assert (each.container, each.init_container) == ("prepare", True)
        assert (each.remedy, each.replacement, each.explanation) == ("rework", None, "init-container")
    assert rewritten(spec) == spec


def test_a_router_has_no_such_variables_either_way() -> None:
    found = only({"routerConfig": {"runner": {"name": "router", "args": ["$(LWS_LEADER_ADDRESS)"]}}})
    assert (found.remedy, found.replacement, found.explanation) == ("rework", "$(OME_LEADER_ADDRESS)", "router")


def test_in_the_value_of_another_variable_the_order_of_variables_matters() -> None:
    found = only(leader(env=[{"name": "RANK", "value": "$(LWS_WORKER_INDEX)"}]))
    assert found.path == "spec.engineConfig.leader.runner.env[0].value"
    assert (found.remedy, found.replacement, found.explanation) == (
        "rename",
        "$(OME_INSTANCE_POD_RANK)",
        "env-value-order",
    )
    assert only(leader(env=[{"name": "RANK", "value": "$LWS_WORKER_INDEX"}])).explanation == "renamed"


def test_a_router_that_sets_the_variable_itself_needs_a_person() -> None:
    found = only({"routerConfig": {"runner": {"env": [{"name": "LWS_GROUP_SIZE", "value": "2"}]}}})
    assert (found.kind, found.remedy, found.explanation) == ("env", "rework", "router")


def test_it_is_found_wherever_a_container_can_name_it() -> None:
    probe = {"exec": {"command": ["sh", "-c", "test $LWS_WORKER_INDEX = 0"]}}
    downward = {"items": [{"path": "rank", "fieldRef": {"fieldPath": f"metadata.labels['{LWS}/worker-index']"}}]}
    spec = {
        "decoderConfig": {
            "worker": {
                "containers": [{"name": "side", "lifecycle": {"preStop": probe}, "livenessProbe": probe}],
                "runner": {"name": "main", "envFrom": [{"prefix": "LWS_", "configMapRef": {"name": "x"}}]},
                "volumes": [{"name": "info", "downwardAPI": downward}],
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [{"matchExpressions": [{"key": f"{LWS}/name", "operator": "Exists"}]}]
                        }
                    }
                },
            }
        }
    }
    found = find_references(spec)
    at = "spec.decoderConfig.worker"
    assert [(each.path, each.container, each.remedy) for each in found] == [
        (
            f"{at}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
            ".nodeSelectorTerms[0].matchExpressions[0].key",
            None,
            "delete",
        ),
        (f"{at}.containers[0].lifecycle.preStop.exec.command[2]", "side", "rename"),
        (f"{at}.containers[0].livenessProbe.exec.command[2]", "side", "rename"),
        (f"{at}.runner.envFrom[0].prefix", "main", "rework"),
        (f"{at}.volumes[0].downwardAPI.items[0].fieldRef.fieldPath", None, "rework"),
    ]
    assert {each.component for each in found} == {"decoder"}
    assert "affinity" not in rewritten(spec)["decoderConfig"]["worker"]


def test_a_name_in_the_default_of_another_is_renamed_too() -> None:
    text = f"${{LWS_GROUP_SIZE:-{LWS}/worker-index=0}}"
    assert rewritten(leader(args=[text])) == leader(args=["${OME_INSTANCE_POD_COUNT:-ome.io/runner=leader}"])


def test_what_is_there_under_the_new_name_stays() -> None:
    override = {"LWS_GROUP_SIZE": "2", "OME_INSTANCE_POD_COUNT": "3"}
    spec = {"supportedModelFormats": [{"acceleratorConfig": {"h100": {"environmentOverride": override}}}]}
    (kept,) = rewritten(spec)["supportedModelFormats"]
    assert kept["acceleratorConfig"]["h100"]["environmentOverride"] == {"OME_INSTANCE_POD_COUNT": "3"}
    selector = {"matchLabels": {f"{LWS}/worker-index": "0", "ome.io/runner": "worker"}}
    constraint = {"topologyKey": "host", "labelSelector": selector}
    written = rewritten({"engineConfig": {"leader": {"topologySpreadConstraints": [constraint]}}})
    (left,) = written["engineConfig"]["leader"]["topologySpreadConstraints"]
    assert left["labelSelector"] == {"matchLabels": {"ome.io/runner": "worker"}}


def test_each_change_says_why_and_gives_the_result() -> None:
    spec = {
        "engineConfig": {"annotations": {f"{LWS}/size": "2", "own": "x"}},
        "routerConfig": {"runner": {"args": [f"a=b,{LWS}/worker-index=0,{LWS}/name=x $X"]}},
    }
    assert [(edit.op, edit.place, edit.why) for edit in omenative_edits(spec)] == [
        ("remove", f'spec.engineConfig.annotations["{LWS}/size"]', ("no-counterpart",)),
        ("replace", "spec.routerConfig.runner.args[0]", ("leader-selector",)),
    ]


def test_a_container_that_sets_the_variable_itself() -> None:
    found = find_references(leader(env=[{"name": "LWS_GROUP_SIZE", "value": "2"}, {"name": "LWS_OTHER", "value": "x"}]))
    assert [(each.path.rsplit(".", 1)[1], each.kind, each.replacement, each.explanation) for each in found] == [
        ("name", "env", "OME_INSTANCE_POD_COUNT", "env-name"),
        ("name", "env", None, "unknown-variable"),
    ]


def test_a_label_read_into_a_variable_needs_a_person() -> None:
    path = f"metadata.labels['{LWS}/worker-index']"
    found = only(leader(env=[{"name": "RANK", "valueFrom": {"fieldRef": {"fieldPath": path}}}]))
    assert found.path == "spec.engineConfig.leader.runner.env[0].valueFrom.fieldRef.fieldPath"
    assert (found.kind, found.token, found.remedy, found.explanation) == ("field-path", path, "rework", "field-path")


@pytest.mark.parametrize(
    ("field", "kind"), [("annotations", "annotation"), ("labels", "label"), ("nodeSelector", "selector")]
)
def test_keys_without_a_counterpart_are_deleted(field: str, kind: str) -> None:
    spec = {"engineConfig": {field: {f"{LWS}/exclusive-topology": "rack", "own": "x"}, "minReplicas": 1}}
    found = only(spec)
    assert found.path == f'spec.engineConfig.{field}["{LWS}/exclusive-topology"]'
    assert (found.kind, found.remedy, found.replacement, found.explanation) == (kind, "delete", None, "no-counterpart")
    assert rewritten(spec) == {"engineConfig": {field: {"own": "x"}, "minReplicas": 1}}


def test_an_object_that_holds_only_deleted_keys_goes_but_the_component_stays() -> None:
    assert rewritten({"engineConfig": {"annotations": {f"{LWS}/size": "2"}}}) == {"engineConfig": {}}
    assert rewritten({"engineConfig": {"annotations": {}}}) == {"engineConfig": {"annotations": {}}}


def affinity(term: dict[str, Any], *, preferred: bool = False) -> dict[str, Any]:
    field = (
        "preferredDuringSchedulingIgnoredDuringExecution"
        if preferred
        else "requiredDuringSchedulingIgnoredDuringExecution"
    )
    terms = [{"weight": 1, "podAffinityTerm": term}] if preferred else [term]
    keep: dict[str, Any] = {"podAntiAffinity": {field: [{"topologyKey": "host"}]}}
    return {"engineConfig": {"affinity": {"podAffinity": {field: terms}} | keep}}


def test_a_selector_of_leaders_in_an_affinity_is_renamed() -> None:
    for selector, renamed in [
        (
            {"matchLabels": {f"{LWS}/worker-index": "0", "a": "b"}},
            {"matchLabels": {"a": "b", "ome.io/runner": "leader"}},
        ),
        (
            {"matchExpressions": [{"key": f"{LWS}/worker-index", "operator": "In", "values": ["0"]}]},
            {"matchExpressions": [{"key": "ome.io/runner", "operator": "In", "values": ["leader"]}]},
        ),
    ]:
        spec = affinity({"topologyKey": "host", "labelSelector": selector})
        found = only(spec)
        assert (found.token, found.replacement) == (f"{LWS}/worker-index=0", "ome.io/runner=leader")
        assert rewritten(spec) == affinity({"topologyKey": "host", "labelSelector": renamed})


@pytest.mark.parametrize("preferred", [False, True])
@pytest.mark.parametrize(
    "term",
    [
        {"topologyKey": f"{LWS}/topology"},
        {"topologyKey": "host", "labelSelector": {"matchLabels": {f"{LWS}/group-key": "x", "a": "b"}}},
        {
            "topologyKey": "host",
            "labelSelector": {"matchExpressions": [{"key": f"{LWS}/group-key", "operator": "Exists"}]},
        },
        {"topologyKey": "host", "labelSelector": {"matchLabels": {"a": "b"}}, "matchLabelKeys": [f"{LWS}/group-key"]},
    ],
)
def test_a_term_that_selects_by_a_deleted_key_goes_as_a_whole(term: dict[str, Any], preferred: bool) -> None:
    spec = affinity(term, preferred=preferred)
    found = only(spec)
    assert found.kind in {"selector", "topology-key"}
    assert (found.remedy, found.explanation) == ("delete", "no-counterpart")
    kept = rewritten(spec)["engineConfig"]["affinity"]
    assert list(kept) == ["podAntiAffinity"]


def test_a_spread_constraint_goes_as_a_whole_too() -> None:
    constraints = [{"topologyKey": "zone", "matchLabelKeys": [f"{LWS}/group-key"]}, {"topologyKey": "host"}]
    spec = {"engineConfig": {"worker": {"topologySpreadConstraints": constraints}}}
    assert rewritten(spec) == {"engineConfig": {"worker": {"topologySpreadConstraints": constraints[1:]}}}


@pytest.mark.parametrize(
    "selector",
    [
        {"matchLabels": {f"{LWS}/worker-index": "1"}},
        {"matchExpressions": [{"key": f"{LWS}/worker-index", "operator": "NotIn", "values": ["0"]}]},
        {"matchExpressions": [{"key": f"{LWS}/worker-index", "operator": "In", "values": ["0", "1"]}]},
        {"matchExpressions": [{"key": f"{LWS}/worker-index", "operator": "Exists"}]},
    ],
)
def test_another_worker_than_the_leader_can_not_be_selected(selector: dict[str, Any]) -> None:
    spec = affinity({"topologyKey": "host", "labelSelector": selector})
    found = only(spec)
    assert (found.remedy, found.replacement, found.explanation) == ("rework", None, "worker-index")
    assert rewritten(spec) == spec


def test_a_map_of_variables_has_its_keys_renamed() -> None:
    formats = [{"acceleratorConfig": {"h100": {"environmentOverride": {"LWS_GROUP_SIZE": "$LWS_NAME", "LWS_A": "x"}}}}]
    found = find_references({"supportedModelFormats": formats})
    assert [(each.kind, each.token, each.remedy) for each in found] == [
        ("text", "LWS_A", "rework"),
        ("env", "LWS_GROUP_SIZE", "rename"),
        ("variable", "$LWS_NAME", "rework"),
    ]


# Properties.

UNHURRIED = settings(deadline=None)
WORDS = st.sampled_from(
    [
        "serve",
        "0",
        "$(LWS_GROUP_SIZE)",
        "$((LWS_GROUP_SIZE-1))",
        "${LWS_WORKER_INDEX:-0}",
        "$(LWS_OTHER)",
        f"{LWS}/worker-index=0",
        f"{LWS}/name=x",
        f"{LWS}/size",
        f"metadata.labels['{LWS}/name']",
    ]
)
TEXTS = st.lists(WORDS, max_size=3).map(" ".join) | st.text(max_size=5)
KEYS = st.sampled_from(
    [
        "engineConfig",
        "routerConfig",
        "runner",
        "initContainers",
        "containers",
        "name",
        "env",
        "value",
        "fieldPath",
        "args",
        "affinity",
        "labels",
        "annotations",
        "matchLabels",
        "matchExpressions",
        "key",
        "operator",
        "values",
        "topologyKey",
        "matchLabelKeys",
        f"{LWS}/worker-index",
        f"{LWS}/name",
        "LWS_GROUP_SIZE",
    ]
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=12
)
SPECS = st.dictionaries(KEYS, VALUES, max_size=4)


def reordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reordered(item) for key, item in reversed(value.items())}
    return [reordered(item) for item in value] if isinstance(value, list) else value


@UNHURRIED
@given(SPECS)
def test_the_order_of_keys_does_not_matter_and_the_spec_stays(spec: dict[str, Any]) -> None:
    before = copy.deepcopy(spec)
    assert find_references(spec) == find_references(reordered(spec))
    rewritten(spec)
    assert repr(spec) == repr(before)


@UNHURRIED
@given(SPECS)
def test_what_is_left_after_writing_needs_a_person(spec: dict[str, Any]) -> None:
    written = rewritten(spec)
    assert {each.remedy for each in find_references(written)} <= {"rework"}
    assert repr(rewritten(written)) == repr(written)


@UNHURRIED
@given(SPECS)
def test_every_reference_is_complete(spec: dict[str, Any]) -> None:
    for found in find_references(spec):
        assert found.path.startswith("spec")
        assert "LWS_" in found.token or "leaderworkerset" in found.token
        assert found.remedy != "rename" or found.replacement
        assert found.remedy != "delete" or found.replacement is None


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_characters="L"), max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_characters="Lw"), max_size=9), inner, max_size=3)
    ),
)


@UNHURRIED
@given(st.dictionaries(st.text(st.characters(exclude_characters="Lw"), max_size=9), PLAIN))
def test_a_spec_that_names_nothing_has_no_references_and_is_its_own_copy(spec: dict[str, Any]) -> None:
    assert find_references(spec) == ()
    assert rewritten(spec) == spec


@pytest.mark.parametrize(
    "text",
    [
        "((" * 50_000 + "LWS_GROUP_SIZE",
        "$[" * 50_000 + "LWS_GROUP_SIZE",
        "a|" * 50_000 + "LWS_GROUP_SIZE",
        "$((LWS_GROUP_SIZE-1)) " * 3_000,
        "${LWS_A" * 20_000,
        "--selector " * 10_000 + f"a=b,{LWS}/name=x",
        f"{LWS}/name=x," * 3_000 + "a=b",
    ],
)
def test_a_text_made_to_take_long_does_not(text: str) -> None:
    before = time.process_time()
    find_references(leader(args=[text]))
    assert time.process_time() - before < 5  # it takes a tenth of a second; what grows with the square, minutes


def test_it_takes_what_is_far_too_deep_for_a_spec() -> None:
    deep: Any = "$LWS_GROUP_SIZE"
    for _ in range(50_000):
        deep = [deep]
    assert find_references({"args": deep}) == ()
    assert find_references({1: ["$LWS_GROUP_SIZE"], None: {"a": object()}})[0].path == 'spec["1"][0]'  # type: ignore[dict-item]


def test_the_annotation_that_says_multi_node_goes() -> None:
    mode = {"ome.io/deploymentMode": "MultiNode"}
    spec = {
        "engineConfig": {"annotations": {**mode, "own": "x"}},
        "decoderConfig": {"annotations": {**mode, f"{LWS}/size": "2"}, "minReplicas": 1},
        "routerConfig": {"annotations": mode},
    }
    assert rewritten(spec) == {
        "engineConfig": {"annotations": {"own": "x"}},
        "decoderConfig": {"minReplicas": 1},
        "routerConfig": {"annotations": mode},
    }
    assert [(edit.place, edit.why) for edit in omenative_edits(spec)] == [
        ("spec.decoderConfig.annotations", ("no-counterpart", "mode-annotation")),
        ('spec.engineConfig.annotations["ome.io/deploymentMode"]', ("mode-annotation",)),
    ]
    other = {"engineConfig": {"annotations": {"ome.io/deploymentMode": "RawDeployment"}}}
    assert rewritten(other) == other
