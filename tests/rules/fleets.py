"""Strategies for whole fleets of manifests, dense in corners: the properties of the rules are held against them.

Names are few, so that they meet: in two scopes, as parents, in ``spec.runtime``. Values are few, so that models and
entries often match. Sizes stay where the ranking is an order: OME itself can't order distances that no integer holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from .manifests import MODE, Manifest, a_model, a_runtime, a_service, deployed

__all__ = ["anything", "broken_fleets", "fleets", "identity", "model_manifests", "runtime_manifests"]

Strategy = st.SearchStrategy[Any]

VERSIONS = ["1.0.0", "1.0.0", "1.0", "v1", "2.0.0", "0.9.0", "1.0.0-rc1", "1.0.0.dev0+x", "", "1.2-beta", "V1"]
OPERATORS = ["Equal", "GreaterThan", "GreaterThanOrEqual", "LessThan", ""]
WEIGHTS = [1, 2, 5, 0, -3, 2**62, 2**63 - 1]
PRIORITIES = [1, 2, 3, 0, -1, 2**31 - 1]
SIZES = ["7B", "8B", "70B", "500M", "1e9", "0x1p33", "1_000M", "-7B", "7b", "", "0"]
MODES = ["RawDeployment", "OMENative", "MultiNode", "VirtualDeployment", "MultiNodeRayVLLM", "omenative", ""]
CLASSES = ["h100", "a100", "H100", ""]
NAMES = ["a", "b", "c", "d"]


def _of(values: Sequence[Any]) -> Strategy:
    return st.sampled_from(values)


def _fields(required: dict[str, Strategy] | None = None, /, **optional: Strategy) -> Strategy:
    """An object whose optional fields are now and then missing, and now and then null."""
    may = {key: st.one_of(value, value, value, st.none()) for key, value in optional.items()}
    return st.fixed_dictionaries(required or {}, optional=may)


def _format(*names: str) -> Strategy:
    return _fields({"name": _of(names)}, version=_of(VERSIONS), operator=_of(OPERATORS), weight=_of(WEIGHTS))


_formats = _format("safetensors", "safetensors", "safetensors", "pytorch", "")
_frameworks = _format("transformers", "transformers", "diffusers")
_parts = _fields(library=_of(["diffusers", "ours", ""]), type=_of(["A", "B", ""]))
_pipelines = _fields(
    className=_of(["Flux", "Wan", ""]),
    scheduler=_parts,
    vae=_parts,
    additionalComponents=st.dictionaries(_of(["x", "y"]), _parts, max_size=2),
)
_rare_pipelines = st.one_of(st.none(), st.none(), st.none(), _pipelines)
_annotations = _of([{}, {"team": "a"}, *({MODE: mode} for mode in MODES)])


def _described(**more: Strategy) -> Strategy:
    return _fields(
        {"modelFormat": _formats, "diffusionPipeline": _rare_pipelines},
        modelFramework=_frameworks,
        modelArchitecture=_of(["Llama", "Llama", "Qwen", ""]),
        quantization=_of(["fp8", ""]),
        **more,
    )


_entries = st.one_of(
    st.just({"modelFormat": {"name": "safetensors"}, "autoSelect": True}),
    _described(autoSelect=_of([True, True, False]), priority=_of(PRIORITIES), name=_of(["x", "y"])),
    _fields(modelFramework=_frameworks, autoSelect=st.booleans()),
)


def _config(shaped: bool = True) -> Strategy:
    shape = {"leader": st.just({}), "worker": _of([{}, {"size": 1}, {"size": 0}])} if shaped else {}
    return _fields(annotations=_annotations, minReplicas=_of([0, 1]), **shape)


def _component(shaped: bool = True) -> Strategy:
    shape = {"leader": st.just({}), "worker": _of([{}, {"size": 1}, {"size": 0}])} if shaped else {}
    override = _fields(acceleratorClass=_of(CLASSES))
    return _fields(annotations=_annotations, acceleratorOverride=override, runner=_of([{}, {"image": "x"}]), **shape)


_runtime_specs = _fields(
    {"supportedModelFormats": st.lists(_entries, max_size=3)},
    disabled=_of([False, False, True]),
    modelSizeRange=_fields(min=_of(SIZES), max=_of(SIZES)),
    acceleratorRequirements=_fields(acceleratorClasses=st.lists(_of(CLASSES), max_size=3)),
    engineConfig=_config(),
    decoderConfig=_config(),
    routerConfig=_config(shaped=False),
)


@st.composite
def runtime_manifests(draw: st.DrawFn, names: Sequence[str] = NAMES) -> Manifest:
    """A runtime of either scope; some inherit, some are profiles."""
    parents = [None, None, None, *({"ome.io/inherit-from": name} for name in NAMES), {"ome.io/runtime-profile": "true"}]
    manifest = a_runtime(draw(_of(names)), draw(_of([None, "team", "team", "other"])), annotations=draw(_of(parents)))
    return {**manifest, "spec": draw(_runtime_specs)}


@st.composite
def model_manifests(draw: st.DrawFn) -> Manifest:
    """A model of either scope; ``llama`` is the one that most services name."""
    spec: dict[str, Any] = draw(
        st.one_of(
            st.just({}),
            _described(
                modelParameterSize=_of(SIZES), disabled=_of([False, False, True]), distribution=_of(["", "Sharded"])
            ),
        )
    )
    return a_model(draw(_of(["llama", "llama", "qwen"])), draw(_of([None, None, "team"])), **spec)


_services = _fields(
    engine=_component(),
    decoder=_component(),
    router=_component(shaped=False),
    deploymentMode=_of(["OMENative", "RawDeployment", "MultiNode", ""]),
    acceleratorSelector=_fields(acceleratorClass=_of(CLASSES), policy=_of(["BestFit"])),
)


@st.composite
def service_manifests(draw: st.DrawFn, name: str = "chat", namespace: str = "team") -> Manifest:
    """A service: most leave the runtime to OME, some name one, some are pinned to a revision."""
    kinds = ["ClusterServingRuntime", "ServingRuntime", "", None]
    reference = _fields({"name": _of(NAMES)}, kind=_of(kinds), autoSync=st.booleans(), revision=_of(["cr-a-0123abcd"]))
    runtime = draw(st.one_of(st.none(), st.none(), reference))
    model = draw(_of([{"name": "llama"}, {"name": "llama"}, {"name": "qwen", "kind": "BaseModel"}, None]))
    annotations = draw(_of([None, None, *({MODE: mode} for mode in MODES), {"ome.io/accelerator-class": "h100"}]))
    spec = {"runtime": runtime, "model": model, "engine": None, **draw(_services)}
    return a_service(name, namespace, annotations=annotations, **spec)


_workloads = st.builds(
    deployed,
    _of(["Deployment", "InferenceReplica", "LeaderWorkerSet"]),
    _of(["engine", "decoder"]),
    _of(NAMES),
    _of(["chat", "talk"]),
)
_classes = st.builds(
    lambda name: {"apiVersion": "ome.io/v1beta1", "kind": "AcceleratorClass", "metadata": {"name": name}},
    _of(["h100", "a100"]),
)
_REVISION: Manifest = {
    "apiVersion": "apps/v1",
    "kind": "ControllerRevision",
    "metadata": {"name": "cr-a-0123abcd", "namespace": "ome"},
    "data": {"spec": {"supportedModelFormats": [], "engineConfig": {"leader": {}, "worker": {}}}},
}


def identity(manifest: Manifest) -> tuple[str, str, str]:
    """Which object a manifest of these strategies describes."""
    metadata = manifest["metadata"]
    return manifest["kind"], metadata.get("namespace", ""), metadata["name"]


@st.composite
def fleets(draw: st.DrawFn, most: int = 5) -> list[Manifest]:
    """A fleet: ``chat`` in ``team`` and sometimes ``talk`` beside it or elsewhere, with what they could need.

    ``llama`` is there unless something else has its place; no object is there twice.
    """
    found = [draw(service_manifests())]
    found += draw(st.lists(service_manifests("talk", draw(_of(["team", "other"]))), max_size=1))
    found += draw(st.lists(runtime_manifests(), max_size=most, unique_by=identity))
    found += draw(st.lists(model_manifests(), max_size=2, unique_by=identity))
    found += draw(st.lists(_workloads, max_size=2, unique_by=identity))
    found += draw(st.lists(_classes, max_size=2, unique_by=identity))
    found += draw(_of([[], [_REVISION]]))
    if not any(identity(manifest)[0].endswith("BaseModel") for manifest in found):
        found.append(a_model())
    return found


_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    _of([10**400, -(10**400), "x" * 500, "7B", "true", "1", -0.0]),
)
anything: Strategy = st.recursive(
    _scalars,
    lambda children: st.one_of(
        st.lists(children, max_size=3),
        st.dictionaries(st.one_of(st.text(max_size=4), _of(["name", "annotations", "version"])), children, max_size=3),
    ),
    max_leaves=6,
)
"""Any value that JSON has, and some that it hasn't: NaN, infinities, and numbers of hundreds of digits."""


_IDENTITY: set[tuple[Any, ...]] = {(), ("kind",), ("metadata",), ("metadata", "name"), ("metadata", "namespace")}


def _spots(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything inside a manifest, but what says which object it is."""
    here = [] if path in _IDENTITY else [path]
    if isinstance(value, dict):
        return here + [spot for key, item in value.items() for spot in _spots(item, (*path, key))]
    if isinstance(value, list):
        return here + [spot for index, item in enumerate(value) for spot in _spots(item, (*path, index))]
    return here


def _replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    if isinstance(value, dict):
        return {key: _replaced(item, path[1:], new) if key == path[0] else item for key, item in value.items()}
    return [_replaced(item, path[1:], new) if index == path[0] else item for index, item in enumerate(value)]


@st.composite
def broken_fleets(draw: st.DrawFn) -> tuple[list[Manifest], int, Any]:
    """A fleet, the position of one of its objects, and that object with anything at all in one place."""
    fleet = draw(fleets(most=3))
    position = draw(st.integers(0, len(fleet) - 1))
    spot = draw(_of(_spots(fleet[position])))
    return fleet, position, _replaced(fleet[position], spot, draw(anything))
