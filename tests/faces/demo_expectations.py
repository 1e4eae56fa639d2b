"""What each service of the demo fleet must come out as, reasoned by hand from OME's documents.

It was written without running this project's rules, so that the two check each other. Where a document leaves
open whether a code is worth a row of its own, the code stands in ``may`` and either answer is right.
Follows OME: runtime selection, runtime deployment-mode matching, deployment modes, runtime inheritance, move from
LeaderWorkerSet.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RUNTIMES", "SERVICES", "UNREADABLE", "ExpectedComponent", "ExpectedRuntime", "ExpectedService"]


@dataclass(frozen=True, slots=True)
class ExpectedComponent:
    """One declared component. ``mode`` is None where no runtime resolves, so that no mode does either."""

    name: str
    mode: str | None = None
    source: str | None = None
    conflicts: frozenset[str] = frozenset()
    migration: str | None = None


@dataclass(frozen=True, slots=True)
class ExpectedService:
    """One row.

    Attributes:
        cluster, namespace, name: which service.
        outcome: how selection comes out; ``invalid`` for a service that can't be read, too.
        runtime: the name of the runtime that the service gets, None when it gets none.
        scope: that runtime's scope, ``Cluster`` or ``Namespaced``.
        refused: whether the webhook would refuse the service today.
        may: conflict codes that may stand in the answer as well (see the module's text).
        text: words that the answer must hold (selection's message, the event, or what admission says), or None.
    """

    cluster: str
    namespace: str
    name: str
    outcome: str
    runtime: str | None
    scope: str | None
    components: tuple[ExpectedComponent, ...]
    refused: bool
    may: frozenset[str]
    text: str | None

    @property
    def conflicts(self) -> frozenset[str]:
        """Every conflict code of the row, whichever component it is on."""
        return frozenset().union(*(each.conflicts for each in self.components))


@dataclass(frozen=True, slots=True)
class ExpectedRuntime:
    """A runtime that shows something by itself: a conflict, a chain (child first), or LeaderWorkerSet references."""

    cluster: str
    namespace: str | None
    name: str
    conflicts: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()
    chain: tuple[str, ...] = ()
    chain_problem: str | None = None
    lws_references: bool = False
    init_container_reference: bool = False


def _part(name: str, mode: str, source: str, *conflicts: str, migration: str | None = None) -> ExpectedComponent:
    return ExpectedComponent(name, mode, source, frozenset(conflicts), migration)


def _engine(mode: str, source: str, *conflicts: str, migration: str | None = None) -> ExpectedComponent:
    return _part("engine", mode, source, *conflicts, migration=migration)


def _row(
    path: str,
    outcome: str,
    runtime: str | None,
    *components: ExpectedComponent,
    refused: bool | None = None,
    may: frozenset[str] = frozenset(),
    text: str | None = None,
) -> ExpectedService:
    """A row. ``path`` is cluster/namespace/name; ``runtime`` is namespace/name when it is a ServingRuntime."""
    cluster, namespace, name = path.split("/")
    where, _, short = (runtime or "").rpartition("/")
    scope = None if runtime is None else "Namespaced" if where else "Cluster"
    refused = outcome in {NO_RUNTIME, INVALID} if refused is None else refused
    return ExpectedService(cluster, namespace, name, outcome, short or None, scope, components, refused, may, text)


def _fails(path: str, outcome: str, text: str, *conflicts: str) -> ExpectedService:
    """A row of a service with an engine that gets no runtime, and so no mode."""
    return _row(path, outcome, None, ExpectedComponent("engine", conflicts=frozenset(conflicts)), text=text)


AUTO, NAMED, ADVICE = "auto-selected", "named", "named-with-advice"
NO_RUNTIME, INVALID, NOT_APPLICABLE = "no-runtime", "invalid", "not-applicable"
ANNOTATION, SHAPE = "ComponentAnnotation", "LeaderWorkerShape"
NATIVE, MULTI = "OMENative", "MultiNode"

RAW = _engine("RawDeployment", "Default")
"""A plain engine: nobody asks for a mode, and it has no leader and no worker."""
RAW_ROUTER = _part("router", "RawDeployment", "Default")
IGNORED, DEPRECATED = frozenset({"ignored"}), frozenset({"deprecated"})

ASSISTANTS = (
    # The namespace's fp8 BaseModel wins over the ClusterBaseModel of its name. Of the three runtimes that take it
    # (scores 2, 6 and 4) the namespace's own comes first, whatever the score.
    _row("eu-prod/assistants/helpdesk", AUTO, "assistants/sgl-llama-small", RAW),
    _row("eu-prod/assistants/copilot", AUTO, "assistants/team-borealis", RAW),
    # The same selection. Its model's kind is wrong (ClusterBaseModel), so it has no workload.
    _row("eu-prod/assistants/copilot-canary", AUTO, "assistants/team-borealis", RAW),
    _row("eu-prod/assistants/copilot-large", NAMED, "vllm-qwen3", RAW),
    # sgl-llama-large and vllm-llama both score (1 + 1) × 2 = 4. For 70.6B the distances are 40.6 + 9.4 = 50 and
    # 69.6 + 9.4 = 79. metadata.annotations says RawDeployment, and that is what runs: no row.
    _row("eu-prod/assistants/general-chat", AUTO, "sgl-llama-large", RAW, RAW_ROUTER),
    # spec.deploymentMode OMENative. The MultiNode runtimes fall to the mode check, but are made for another model:
    # whether that is worth a row is open.
    _row(
        "eu-prod/assistants/general-chat-native",
        AUTO,
        "sgl-llama-large",
        _engine(NATIVE, "ServiceSpec", migration="done"),
        may=frozenset({"rejected"}),
    ),
    # sgl-llama-fp8 scores 2 × 3 = 6, vllm-llama 4.
    _row("eu-prod/assistants/batch-summaries", AUTO, "sgl-llama-fp8", RAW),
    # Both sgl-llama-small are excluded; the name is listed once, with the cluster one's reason (the namespaced one's
    # has "model has no quantization but runtime requires fp8" as well).
    _fails(
        "eu-prod/assistants/voice-notes",
        NO_RUNTIME,
        "sgl-llama-small (model format 'mt:safetensors:1.0.0:WhisperForConditionalGeneration:transformers:4.41.0' "
        "not in supported formats: architecture mismatch (model=WhisperForConditionalGeneration, "
        "runtime=LlamaForCausalLM))",
    ),
)

RETRIEVAL = (
    _row("eu-prod/retrieval/embed-main", AUTO, "tei-embed", RAW, may=IGNORED),
    _row("eu-prod/retrieval/embed-legal", AUTO, "tei-embed", RAW, may=IGNORED),
    # rerank-cpu passes the checks and has an entry for automatic selection; but that one is for onnx (score 0), and
    # the matching one isn't for automatic selection. The Deployment still carries the label of before.
    _row("eu-prod/retrieval/rerank-main", AUTO, "tei-embed", _engine("RawDeployment", "Default", "drift"), may=IGNORED),
    # Here the ClusterBaseModel is the only one of its name. For 7.25B, sgl-llama-small is at 6.25 + 7.75 = 14 and
    # vllm-llama at 6.25 + 72.75 = 79, both with score 4.
    _row("eu-prod/retrieval/rag-answers", AUTO, "sgl-llama-small", RAW),
    # vllm-llama and sgl-aurora-omenative list no class.
    _row("eu-prod/retrieval/rag-answers-hopper", AUTO, "sgl-llama-large", RAW),
    _fails(
        "eu-prod/retrieval/rag-answers-mi300",
        NO_RUNTIME,
        "sgl-llama-large (runtime does not support the required accelerator class); ",
    ),
    # sgl-qwen3 and vllm-qwen3: score 2 (the weight that vllm-qwen3 leaves out is the CRD's 1), distance 39. By name.
    _row("eu-prod/retrieval/query-rewriter", AUTO, "sgl-qwen3", RAW),
    # Entry 1.16.0 GreaterThan model 1.15.0: matches. Named by kind ServingRuntime and pinned to a revision.
    _row("eu-prod/retrieval/click-ranker", NAMED, "retrieval/onnx-cpu", RAW),
    _fails(
        "eu-prod/retrieval/click-ranker-next",
        NO_RUNTIME,
        "onnx-cpu (model format 'mt:onnx:1.17.0' not in supported formats: format version mismatch "
        "(model=1.17.0, runtime=1.16.0)); ",
    ),
    # The runtime's routerConfig says MultiNode, and nothing is compared for a router.
    _row(
        "eu-prod/retrieval/rag-router",
        NAMED,
        "sgl-router-preview",
        RAW,
        _part("router", MULTI, ANNOTATION, "impossible", "silent-takeover"),
        may=frozenset({"ignored", "deprecated"}),
    ),
)

CREATIVE = (
    _row("eu-prod/creative/poster-maker", AUTO, "diffusers-flux", RAW),
    _row("eu-prod/creative/inpaint-studio", AUTO, "creative/diffusers-inpaint", RAW),
    # sgl-vision inherits from sgl-mistral, that from sgl-common-profile (disabled); sgl-vision says disabled: false.
    _row("eu-prod/creative/caption-batch", NAMED, "sgl-vision", RAW),
    # A development version equals only itself, so vllm-cirrus-two-node doesn't match; sgl-mistral is judged on its own
    # spec, where disabled isn't set.
    _row("eu-prod/creative/copywriter", AUTO, "sgl-mistral", RAW),
    # Named, it is judged on the merged spec, and the profile's disabled: true stays.
    _fails("eu-prod/creative/headline-writer", INVALID, "cluster-scoped runtime sgl-mistral is disabled"),
    # The Deployment is kept. Nothing is selected, so there is nothing that it could differ from.
    _fails(
        "eu-prod/creative/slogan-writer",
        INVALID,
        "runtime vllm-llama-legacy does not support model aurora-7b-instruct: "
        "cluster-scoped runtime vllm-llama-legacy is disabled",
    ),
    _fails(
        "eu-prod/creative/storyboard",
        INVALID,
        'referenced model "storyboard-12b" not found in namespace "creative": ensure a BaseModel exists in this '
        "namespace or a ClusterBaseModel exists cluster-wide with this name",
    ),
)

FRONTIER = (
    # Asks for nothing, the runtime's annotation decides. metadata.annotations says RawDeployment, and not that runs.
    _row(
        "eu-prod/frontier/research-chat",
        AUTO,
        "sgl-fathom-multinode",
        _engine(MULTI, ANNOTATION, "silent-takeover", "deprecated", "ignored", migration="not-started"),
    ),
    _row(
        "eu-prod/frontier/research-chat-next",
        NAMED,
        "sgl-fathom-multinode-omenative",
        _engine(NATIVE, ANNOTATION, migration="cleanup-due"),
    ),
    # Follows the old runtime's revision on the LeaderWorkerSet: neither its kind nor its label is today's answer.
    _row(
        "eu-prod/frontier/research-archive",
        NAMED,
        "sgl-fathom-multinode-omenative",
        _engine(NATIVE, ANNOTATION, "drift", migration="waiting-on-pin"),
    ),
    _row("eu-prod/frontier/aurora-long", NAMED, "vllm-aurora-two-node", _engine(NATIVE, SHAPE, migration="at-risk")),
    _row(
        "eu-prod/frontier/cirrus-long",
        AUTO,
        "vllm-cirrus-two-node",
        _engine(NATIVE, SHAPE, migration="moved-by-upgrade"),
    ),
    # In selection it asks for nothing: no advice. Merged, its "Multinode" hides the runtime's MultiNode and the shape
    # decides; the runtime's LWS_* variables don't exist on OMENative. (A value that hides doesn't count, so "ignored"
    # may stand there, too.)
    _row(
        "eu-prod/frontier/typo-chat",
        NAMED,
        "sgl-fathom-multinode",
        _engine(NATIVE, SHAPE, "hidden", migration="at-risk"),
        may=IGNORED,
    ),
    _row(
        "eu-prod/frontier/disagg-chat",
        NAMED,
        "sgl-fathom-pd",
        _engine(MULTI, ANNOTATION, "silent-takeover", "deprecated", migration="not-started"),
        _part("decoder", MULTI, ANNOTATION, "silent-takeover", "deprecated", migration="not-started"),
        RAW_ROUTER,
    ),
    _row(
        "eu-prod/frontier/disagg-chat-next",
        NAMED,
        "sgl-fathom-pd-omenative",
        _engine(NATIVE, ANNOTATION, migration="done"),
        _part("decoder", NATIVE, ANNOTATION, migration="cleanup-due"),
        RAW_ROUTER,
    ),
    _row(
        "eu-prod/frontier/disagg-mixed",
        NAMED,
        "sgl-fathom-pd-omenative",
        _engine(NATIVE, ANNOTATION, "pair", migration="done"),
        _part("decoder", MULTI, ANNOTATION, "pair", "deprecated", migration="not-started"),
        refused=True,
        text='engine deploymentMode="OMENative" does not match decoder deploymentMode="MultiNode"',
    ),
    # The mode resolves (a leader and a worker in decoderConfig), but without an engine nothing is made.
    _row(
        "eu-prod/frontier/decode-only",
        NAMED,
        "sgl-fathom-pd-omenative",
        _part("decoder", NATIVE, SHAPE),
        refused=True,
        text="decoder cannot be specified without engine",
    ),
    # sgl-fathom-multinode falls to the mode check. Its copy and the PD copy pass every check but aren't for automatic
    # selection: counted, not listed.
    _fails(
        "eu-prod/frontier/reasoning-raw",
        NO_RUNTIME,
        "sgl-fathom-multinode (runtime engine deployment mode MultiNode does not match requested engine "
        "deployment mode RawDeployment); ",
        "rejected",
    ),
    # The runtime's annotation beats spec.deploymentMode.
    _row(
        "eu-prod/frontier/reasoning-lowmem",
        ADVICE,
        "sgl-fathom-multinode",
        _engine(MULTI, ANNOTATION, "overridden", "deprecated", migration="not-started"),
        text="Runtime sgl-fathom-multinode does not declare support for model fathom-moe-480b (runtime "
        "sgl-fathom-multinode does not support model : runtime engine deployment mode MultiNode does not match "
        "requested engine deployment mode RawDeployment); proceeding because the runtime was named explicitly",
    ),
    _row(
        "eu-prod/frontier/aurora-leader-only",
        NAMED,
        "vllm-aurora-two-node",
        _engine("RawDeployment", ANNOTATION, "no-workers"),
    ),
    # Without the runtime's annotation the shape would say OMENative as well: whether that is a takeover is open.
    _row(
        "eu-prod/frontier/aurora-gang",
        NAMED,
        "sgl-aurora-omenative",
        _engine(NATIVE, ANNOTATION, migration="done"),
        may=frozenset({"silent-takeover"}),
    ),
    _row("eu-prod/frontier/borealis-trial", AUTO, "frontier/sgl-borealis-trial", RAW, may=IGNORED),
    _fails(
        "eu-prod/frontier/tuned-borealis",
        INVALID,
        'inherit-from parent "sgl-tuned-profile" not found (chain so far: [sgl-orphan-tuned])',
    ),
    _fails(
        "eu-prod/frontier/code-review",
        INVALID,
        "invalid model specification: modelFormat.name: model format name is required",
    ),
    _fails(
        "eu-prod/frontier/atlas-preview", NO_RUNTIME, "no model cache provider is configured for sharded model loading"
    ),
    _row("eu-prod/frontier/sim-engine", NAMED, "vllm-qwen3", _engine("VirtualDeployment", ANNOTATION, "impossible")),
    _row("eu-prod/frontier/partner-pool", NOT_APPLICABLE, None),
    _row("eu-prod/frontier/partner-edge", NOT_APPLICABLE, None, _engine("VirtualDeployment", "ServiceAnnotation")),
    _row("eu-prod/frontier/imported-bot", INVALID, None, refused=False),
)

LAB = (
    # v1.2.2's webhook writes a mode into metadata.annotations: a row only where something else runs.
    _row("us-lab/sandbox/playground", AUTO, "sgl-gemma", RAW),
    _row("us-lab/sandbox/tuned-demo", AUTO, "sgl-gemma", RAW),
    _row(
        "us-lab/sandbox/leader-lonely",
        NAMED,
        "vllm-llama-lab",
        _engine(MULTI, SHAPE, "deprecated", "ignored", migration="not-started"),
    ),
    _fails(
        "us-lab/sandbox/semantic-search",
        NO_RUNTIME,
        "no runtime found to support model safetensors with format safetensors in namespace sandbox",
    ),
    # v1.2.2 ignores spec.runtime.kind: the namespaced runtime wins by name.
    _row("us-lab/evals/gemma-judge", NAMED, "evals/sgl-gemma", RAW),
    _row(
        "us-lab/evals/lite-chat",
        AUTO,
        "sgl-lite-multinode",
        _engine(MULTI, SHAPE, "deprecated", "ignored", migration="not-started"),
    ),
    _row(
        "us-lab/evals/lite-pinned",
        NAMED,
        "sgl-lite-multinode",
        _engine(MULTI, ANNOTATION, "deprecated", "ignored", migration="not-started"),
    ),
    # A mode of v1.2 alone. Whether its end on v1.3 makes it deprecated is open.
    _row(
        "us-lab/evals/ray-judge",
        NAMED,
        "vllm-ray-two-node",
        _engine("MultiNodeRayVLLM", ANNOTATION, "silent-takeover", "ignored"),
        may=DEPRECATED,
    ),
)

SERVICES: tuple[ExpectedService, ...] = (*ASSISTANTS, *RETRIEVAL, *CREATIVE, *FRONTIER, *LAB)
"""One row for each InferenceService of the fleet."""

RUNTIMES: tuple[ExpectedRuntime, ...] = (
    ExpectedRuntime("eu-prod", None, "tei-embed", conflicts=IGNORED),
    ExpectedRuntime("eu-prod", None, "sgl-router-preview", conflicts=frozenset({"impossible"}), may=IGNORED),
    ExpectedRuntime("eu-prod", "frontier", "sgl-borealis-trial", conflicts=IGNORED),
    ExpectedRuntime("eu-prod", None, "sgl-mistral", chain=("sgl-mistral", "sgl-common-profile")),
    ExpectedRuntime("eu-prod", None, "sgl-vision", chain=("sgl-vision", "sgl-mistral", "sgl-common-profile")),
    ExpectedRuntime("eu-prod", None, "sgl-orphan-tuned", chain_problem="ParentNotFound"),
    ExpectedRuntime("eu-prod", None, "sgl-loop", chain_problem="InheritanceCycle"),
    ExpectedRuntime("eu-prod", None, "sgl-fathom-multinode", conflicts=DEPRECATED, lws_references=True),
    ExpectedRuntime(
        "eu-prod", None, "sgl-fathom-pd", conflicts=DEPRECATED, lws_references=True, init_container_reference=True
    ),
    ExpectedRuntime("eu-prod", None, "vllm-aurora-two-node", lws_references=True),
    ExpectedRuntime("us-lab", None, "sgl-lite-multinode", may=DEPRECATED, lws_references=True),
)
"""Runtimes that show something; no other has LeaderWorkerSet references, a parent, or a mode that isn't read."""

UNREADABLE: frozenset[tuple[str, str, str | None, str]] = frozenset(
    {
        ("eu-prod", "ClusterServingRuntime", None, "onnx-imported"),
        ("eu-prod", "InferenceService", "frontier", "imported-bot"),
        ("us-lab", "ServingRuntime", "sandbox", "gguf-cpu"),
    }
)
"""Cluster, kind, namespace, name of what can't be read."""
