"""No secret of a manifest gets past ``redact``, and nothing that anyone judges by changes on the way."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.rules.explain import explain_service
from selection.rules.fleet import read_fleet
from selection.store.redaction import PLACEHOLDER, redact

S = "hunter2-planted"
Json = Any


def nested(*path: str | int, value: Json) -> dict[str, Json]:
    for key in reversed(path):
        value = {key: value} if isinstance(key, str) else [value]
    assert isinstance(value, dict)
    return value


def env(name: str, value: Json = S) -> dict[str, Json]:
    return nested("spec", "engineConfig", "runner", "env", 0, value={"name": name, "value": value})


def parameters(**values: Json) -> dict[str, Json]:
    return nested("spec", "storage", "parameters", value=values)


def annotated_with(**values: Json) -> dict[str, Json]:
    return nested("metadata", "annotations", value={key.replace("__", "/"): value for key, value in values.items()})


def args(*values: Json) -> dict[str, Json]:
    return nested("spec", "engine", "runner", "args", value=list(values))


LAST_APPLIED = json.dumps(
    {"spec": {"runner": {"env": [{"name": "HF_TOKEN", "value": S}, {"name": "A", "value": "1"}]}}}
)

HIDDEN: list[dict[str, Json]] = [
    # Environment variables, in containers, pod templates and as a map
    *(env(name) for name in ("HF_TOKEN", "OPENAI_API_KEY", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "apiKey", "PASS")),
    env("DATABASE_URL", f"postgres://me:{S}@db/x"),
    env("EXTRA_ARGS", f"--api-key {S} --port 80"),
    env("CONFIG", json.dumps({"auth": {"apiKey": S}})),
    nested("spec", "leader", "podSpec", "initContainers", 0, "env", 0, value={"value": S, "name": "HF_TOKEN"}),
    nested("spec", "env", value={"HF_TOKEN": S}),
    nested("spec", "livenessProbe", "httpGet", "httpHeaders", 0, value={"name": "Authorization", "value": S}),
    nested("settings", 0, value={"key": "password", "value": S}),
    # Commands and their arguments
    args(f"--api-key={S}"),
    args("--api-key", S),
    args("--model", "x", "--token", S, "--port", "80"),
    args("-c", f"export HF_TOKEN={S} && serve"),
    args(f"--api-key={S} {S}"),
    nested("spec", "command", value=["sh", "-c", f"serve \\\n  --hf-token {S} \\\n  --port 80"]),
    nested("spec", "command", value=["sh", "-c", f"cat <<EOF > c.yaml\npassword: {S}\nEOF"]),
    # Storage
    parameters(token=S),
    parameters(secretAccessKey=S),
    parameters(password=S),
    parameters(credentials={"user": S}),
    parameters(apiKeys=[S, S]),
    nested("spec", "storage", "storageUri", value=f"s3://key:{S}@bucket/x"),
    nested("spec", "storage", "storageUri", value=f"https://host/model?sig={S}"),
    # Annotations, of the object and of templates
    annotated_with(token=S),
    annotated_with(example_com__api_key=S),
    annotated_with(note=f"the password is: password={S}"),
    annotated_with(example_com__last_applied=LAST_APPLIED),
    annotated_with(example_com__nested=json.dumps({"again": LAST_APPLIED})),
    # A ControllerRevision
    nested("data", "spec", "engineConfig", "runner", "env", 0, value={"name": "HF_TOKEN", "value": S}),
    nested("data", "raw", value=LAST_APPLIED),
    # Any other field
    nested("spec", "password", value=S),
    nested("spec", "clientSecret", value=S),
    nested("spec", "credentials", value={"user": S, "retries": 3}),
    annotated_with(ome_io__deploymentMode=f"password={S}"),
    nested("status", "message", value=f"login with password={S} failed"),
    nested("spec", "labels", "team", value="hf_abcdefghijklmnopqrst" + S),
]

KEPT: list[dict[str, Json]] = [
    # References to secrets
    env("HF_TOKEN", "$(HF_TOKEN)"),
    nested("env", 0, value={"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf-token", "key": "token"}}}),
    nested("volumes", 0, value={"name": "creds", "secret": {"secretName": "s3-credentials", "optional": True}}),
    nested("volumes", 0, value={"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}),
    nested("spec", "imagePullSecrets", 0, value={"name": "registry-credentials"}),
    nested("spec", "storage", value={"storageUri": "hf://meta-llama/Llama-3.3-70B", "key": "hf-token"}),
    nested("automountServiceAccountToken", value=True),
    parameters(region="us-ashburn-1", auth="instance_principal", secretName="s3-credentials"),
    args("--api-key", "$(API_KEY)"),
    args("--api-key-file", "/etc/keys/api"),
    # What only sounds like one
    args("--tokenizer", "meta-llama/Llama-3", "--max-tokens", "4096", "--token", "--port", "80"),
    args("--dist-init-addr=$(LWS_LEADER_ADDRESS):20000", "--node-rank", "$(LWS_WORKER_INDEX)"),
    args("--served-model-name", "token-classifier", '--hf-overrides={"rope_scaling": {"factor": 4.0}}'),
    env("MAX_TOKENS", "128000"),
    env("TOKENIZERS_PARALLELISM", "false"),
    nested("spec", "tokenizer", value={"library": "transformers", "type": "CLIPTokenizer"}),
    nested("spec", "tokensPerSecond", value=1_000_000),
    nested("status", "lastRuntimeSyncToken", value="1779094800"),
    # Labels are there to be selected by
    nested("metadata", "labels", value={"token": "llama", "component": "engine", "password-policy": "strict"}),
    nested("spec", "selector", "matchLabels", value={"ome.io/runner": "leader", "secret": "no"}),
    nested("spec", "nodeSelector", value={"example.com/api-token": "true"}),
    # Names, whatever they are
    nested("metadata", value={"name": "sk-learn-runtime-for-tabular-data-2", "namespace": "glpat-aaaaaaaaaaaaaaaa"}),
    nested("spec", "model", value={"name": "risk-assessment-model-version-two"}),
    nested("spec", "runtime", value={"name": "npm-or-disk-offload-runtime-2024", "kind": "ServingRuntime"}),
    nested("metadata", "annotations", value={"ome.io/inherit-from": "glpat-aaaaaaaaaaaaaaaa"}),
    nested("metadata", "annotations", value={"ome.io/accelerator-class": "glpat-aaaaaaaaaaaaaaaa"}),
    nested("metadata", "labels", value={"serving-runtime": "glpat-aaaaaaaaaaaaaaaa"}),
    nested("spec", "containers", 0, value={"name": "x", "image": "registry/token-server:v1.2.3"}),
    nested(
        "spec",
        "supportedModelFormats",
        0,
        "diffusionPipeline",
        "additionalComponents",
        value={"auth_token": {"library": "a"}},
    ),
    nested("spec", "acceleratorRequirements", "acceleratorClasses", value=["glpat-aaaaaaaaaaaaaaaa"]),
]


@pytest.mark.parametrize("manifest", HIDDEN, ids=json.dumps)
def test_a_secret_is_replaced(manifest: dict[str, Json]) -> None:
    clean = json.dumps(redact(manifest), ensure_ascii=False)
    assert S not in clean
    assert PLACEHOLDER in clean


@pytest.mark.parametrize("manifest", KEPT, ids=json.dumps)
def test_what_is_no_secret_stays(manifest: dict[str, Json]) -> None:
    assert redact(manifest) == manifest


@pytest.mark.parametrize("manifest", HIDDEN, ids=json.dumps)
def test_doing_it_twice_changes_nothing(manifest: dict[str, Json]) -> None:
    assert redact(redact(manifest)) == redact(manifest)


def test_the_manifest_that_was_given_is_not_touched() -> None:
    manifest = env("HF_TOKEN")
    redact(manifest)
    assert manifest == env("HF_TOKEN")


def test_what_is_around_a_secret_stays() -> None:
    clean = redact(annotated_with(example_com__last_applied=LAST_APPLIED))
    kept = json.loads(clean["metadata"]["annotations"]["example_com/last_applied"])
    assert kept["spec"]["runner"]["env"] == [{"name": "HF_TOKEN", "value": PLACEHOLDER}, {"name": "A", "value": "1"}]


@pytest.mark.parametrize("number", [123456789, -123456789, 123456.75, 10**30])
def test_a_long_number_under_a_secret_name_may_be_a_password(number: float) -> None:
    assert redact({"password": number}) == {"password": PLACEHOLDER}
    assert redact({"args": ["--password", number]}) == {"args": ["--password", PLACEHOLDER]}
    assert redact(env("PIN_PASSWORD", number)) == env("PIN_PASSWORD", PLACEHOLDER)
    assert redact({"port": number}) == {"port": number}


@pytest.mark.parametrize("value", [True, False, None, 5, 0.5])
def test_a_switch_and_a_short_number_stay(value: Json) -> None:
    assert redact({"token": value}) == {"token": value}


def test_numbers_that_no_database_keeps_become_text() -> None:
    assert redact({"a": float("inf"), "b": [float("nan")], "version": float("-inf")}) == {
        "a": "inf",
        "b": ["nan"],
        "version": "-inf",
    }


def test_text_that_no_database_keeps_is_replaced_in_keys_and_values_and_names() -> None:
    odd, fine = "a\x00b\ud800", "a\ufffdb?"
    assert redact({odd: odd, "metadata": {"name": odd}, "acceleratorClasses": [odd], "labels": {odd: odd}}) == {
        fine: fine,
        "metadata": {"name": fine},
        "acceleratorClasses": [fine],
        "labels": {fine: fine},
    }


def test_what_is_too_deep_to_be_looked_through_is_not_kept() -> None:
    deep: Json = S
    for _ in range(5000):
        deep = {"a": [deep]}
    clean: Json = redact(deep)
    depth = 0
    while clean != PLACEHOLDER:
        clean = clean["a"] if isinstance(clean, dict) else clean[0]
        depth += 1
    assert 100 < depth < 300


def test_json_that_is_too_deep_is_looked_through_as_text() -> None:
    text = "[" * 100_000 + f'{{"password": "{S}"}}'
    assert S not in json.dumps(redact({"a": text}))


def test_a_field_that_is_given_twice_in_json_is_hidden_both_times() -> None:
    assert S not in json.dumps(redact({"a": f'{{"password": "{S}", "password": ""}}'}))


# --- properties --------------------------------------------------------------------------------------

names = st.sampled_from(
    ["token", "name", "value", "env", "args", "labels", "type", "password", "secretName", "key", "a"]
)
words = st.sampled_from(
    [S, "$(A)", "--api-key", "--token=x", f'{{"token": "{S}"}}', "https://a:b@c", "[", "\ud800", "\x00"]
)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | words | st.text(max_size=8)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names | st.text(max_size=4), inner, max_size=4)
)
manifests = st.dictionaries(names, values, max_size=4)


def shape(value: Json) -> Json:
    """What a value is made of: as many items, and of the same kinds, except for what may be hidden."""
    if isinstance(value, dict):
        return {"object": [shape(each) for each in value.values()]}
    return {"list": [shape(each) for each in value]} if isinstance(value, list) else ""


@given(manifests)
def test_it_never_raises_is_idempotent_and_gives_what_json_and_databases_hold(manifest: dict[str, Json]) -> None:
    clean = redact(manifest)
    text = json.dumps(clean, ensure_ascii=False, allow_nan=False)
    text.encode()
    assert "\\u0000" not in text
    assert redact(clean) == clean
    assert redact({"spec": manifest})["spec"] == clean


@given(manifests)
def test_it_keeps_the_form(manifest: dict[str, Json]) -> None:
    storable_keys = json.loads(json.dumps(manifest).replace("\\u0000", "?").replace("\\ud800", "?"))
    assert shape(redact(storable_keys)) == shape(storable_keys)


object_names = st.sampled_from(
    [
        "llama",
        "sk-learn-runtime-for-tabular-data",
        "risk-assessment-model-two-1",
        "hf-token",
        "glpat-aaaaaaaaaaaaaaaa",
        "api-key",
    ]
)
mode_values = st.sampled_from(["OMENative", "MultiNode", "RawDeployment", "token", ""])
format_ = st.fixed_dictionaries(
    {"name": st.sampled_from(["safetensors", "token", "sk-abcdefghijklmnopqrstuvwxyzA1"])},
    optional={
        "version": st.sampled_from(["1.0.0", "4.41.0", "token=abcdef", "glpat-aaaaaaaaaaaaaaaa"]),
        "weight": st.integers(-5, 2**63 - 1),
        "operator": st.sampled_from(["Equal", "GreaterThan"]),
    },
)
pipeline = st.fixed_dictionaries(
    {"className": st.sampled_from(["FluxPipeline", "secret"])},
    optional={
        name: st.fixed_dictionaries({"library": st.sampled_from(["x", "token"]), "type": st.just("T")})
        for name in ("tokenizer", "vae")
    }
    | {
        "additionalComponents": st.dictionaries(
            st.sampled_from(["token", "auth_token", "x"]), st.fixed_dictionaries({"library": st.just("password")})
        )
    },
)
deciding = {
    "modelFormat": format_,
    "modelFramework": format_,
    "modelArchitecture": st.sampled_from(["LlamaForCausalLM", "hf_abcdefghijklmnopqrst"]),
    "quantization": st.sampled_from(["fp8", "token"]),
    "diffusionPipeline": pipeline,
}
classes = st.lists(st.sampled_from(["h100", "api-key", "glpat-aaaaaaaaaaaaaaaa"]), max_size=2)
annotated = st.fixed_dictionaries(
    {}, optional={"annotations": st.fixed_dictionaries({"ome.io/deploymentMode": mode_values})}
)
runtime_specs = st.fixed_dictionaries(
    {
        "supportedModelFormats": st.lists(
            st.fixed_dictionaries({"autoSelect": st.just(True)}, optional=deciding), max_size=2
        )
    },
    optional={
        "modelSizeRange": st.just({"min": "1B", "max": "80B"}),
        "acceleratorRequirements": st.fixed_dictionaries({"acceleratorClasses": classes}),
        "engineConfig": annotated,
        "decoderConfig": annotated,
    },
)


@given(
    model=object_names,
    named=st.none() | object_names,
    model_spec=st.fixed_dictionaries({}, optional={**deciding, "modelParameterSize": st.just("7B")}),
    runtimes=st.dictionaries(object_names, runtime_specs, max_size=4),
    engine=annotated,
    wanted=st.sampled_from([None, "h100", "glpat-aaaaaaaaaaaaaaaa"]),
)
def test_what_is_hidden_decides_nothing(
    model: str, named: str | None, model_spec: Json, runtimes: Json, engine: Json, wanted: str | None
) -> None:
    spec: Json = {"model": {"name": model}, "engine": engine}
    if named:
        spec["runtime"] = {"name": named}
    if wanted:
        spec["acceleratorSelector"] = {"acceleratorClass": wanted}
    objects = [
        {"kind": "InferenceService", "metadata": {"name": model, "namespace": "hf-token"}, "spec": spec},
        {"kind": "ClusterBaseModel", "metadata": {"name": model}, "spec": model_spec},
        *(
            {"kind": "ClusterServingRuntime", "metadata": {"name": name}, "spec": each}
            for name, each in runtimes.items()
        ),
    ]
    judged = [
        explain_service(read_fleet(each), "hf-token", model).to_dict() for each in (objects, map(redact, objects))
    ]
    assert judged[0] == judged[1]


def test_a_number_that_no_database_keeps_is_replaced_under_a_secrets_name() -> None:
    once = redact({"kind": "BaseModel", "spec": {"token": float("inf"), "size": float("inf")}})
    assert once["spec"] == {"token": PLACEHOLDER, "size": "inf"}
    assert redact(once) == once
