"""Secrets inside text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.store.secrettext import PLACEHOLDER, hidden_text, storable, without_secrets

S = "hunter2-planted"

HIDDEN = [
    # Options
    f"--api-key={S}",
    f"--api-key {S}",
    f"--api-key='{S}'",
    f'--api-key="{S} and {S}"',
    f"--api-key={S} with {S}",  # one argument
    f"--token -x --api-key {S}",
    f"--verbose --api-key {S}",
    f"--set=token={S}",
    f"--set auth.token={S}",
    f"python -m server --model x --hf-token {S} --port 80",
    f"--token={S}\n--model=x",
    f'--token "{S}',  # a quote that never ends
    f"'--api-key={S}'",
    f'["serve", "--api-key", "{S}"]',
    f'["serve","--api-key","{S}"]',
    f"-DdbPassword={S}",
    # Assignments
    f"HF_TOKEN={S}",
    f"export HF_TOKEN={S}; serve",
    f"export HF_TOKEN='{S} {S}' && serve",
    f"A=1 DB_PASSWORD={S} serve",
    f"HF_TOKEN=${{HF_TOKEN:-{S}}} serve",
    f"HF_TOKEN=$(echo {S}) serve",
    f"-e HF_TOKEN={S}",
    f"DefaultEndpointsProtocol=https;AccountName=x;AccountKey={S};EndpointSuffix=y",
    f"host=db password={S} user=x",
    # Headers, JSON and YAML
    f"Authorization: Bearer {S}",
    f"curl -H 'Authorization: Basic {S}' https://host",
    f"curl -H X-Api-Key:{S} https://host",
    f"curl -u me:{S} https://host",
    f'{{"apiKey": "{S}"}}',
    f'--config={{"apiKey": "{S}"}}',
    f'--config={{"apiKey": "a\\"{S}"}}',
    rf'--config="{{\"apiKey\": \"{S}\"}}"',
    f"password: {S}\nuser: x",
    f"# a comment\ntoken: '{S}'",
    # URLs
    f"postgres://me:{S}@host:5432/db",
    f"redis://:{S}@host",
    f"https://me:p@{S}@host/path",
    f"https://host/path?token={S}&x=1",
    f"https://host/path?x=1&sig={S}",
    f"https://s3/x?X-Amz-Signature={S}",
]

SHAPES = [
    *("hf_abcdefghijklmnopqrstuvwxyz", "ghp_0123456789abcdefghijABCDEFGHIJ012345", "github_pat_11ABCDEFG0abcdefghijkl"),
    *("glpat-abcdefghijklmnopqrst", "sk-proj-Abcdefghijklmnop0123456789", "sk-0123456789abcdef0123456789abcdef"),
    *("AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE", "xoxb-123456789012-abcdef", "nvapi-abcdefghijklmnopqrstu"),
    *(
        "AIzaSyA-1234567890abcdefghijklmnopqrstu",
        "npm_abcdefghijklmnopqrstuvwxyz0123456789",
        "sk_live_0123456789abcdef",
    ),
    *("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "Bearer abcdefghijklmnop0123", "ya29.a0AfH6SMBabcdefghij0"),
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nMIIEow and no end",
    "https://hooks.slack.com/services/T000/B000/XXXXXXXX",
]

KEPT = [
    # References
    *("--api-key=$(API_KEY)", "--api-key $API_KEY", '--api-key="${API_KEY}"', "HF_TOKEN=$(HF_TOKEN) serve"),
    *("Authorization: Bearer $(TOKEN)", "--api-key=$(A):$(B)", "https://me:$(PASSWORD)@host/"),
    # Options and words that only sound like it
    *(
        "--tokenizer=x --max-tokens 4096",
        "--tokenizer-path meta-llama/Llama-3",
        "--eos-token=</s>",
        "--api-key-file=/x",
    ),
    *("--served-model-name token-counter", "--token", "--api-key --port 80", "--enable-token=true", "tokens: 12"),
    *("--speculative-token-map thunlp/LLaMA3-FR-Spec/freq_32768.pt", "--trust-remote-code --tp-size=8"),
    # Names that happen to begin like a token, or hold one's beginning
    *("sk-learn-runtime-for-tabular-data", "risk-assessment-model-version-two", "mask-generation-pipeline-large"),
    *("disk-offload-runtime-with-long-name", "basic understanding of transformers"),
    # Addresses, images, versions
    *("$(LWS_LEADER_ADDRESS):20000", "--dist-init-addr=$(OME_LEADER_ADDRESS):5000", "ssh://git@host/repo"),
    *(
        "http://token-server:8080/v1",
        "ghcr.io/acme/token-server:v1.2.3",
        "--router http://host:30000",
        "secret://vault/x",
    ),
    *("hf://meta-llama/Llama-3.3-70B-Instruct", "oci://n/namespace/b/bucket/o/object", "mt:safetensors:1.0.0:Llama"),
    *("leaderworkerset.sigs.k8s.io/worker-index=0", "component=engine,ome.io/runner=leader", "a=b", "12:30", "x: y"),
]


@pytest.mark.parametrize("text", HIDDEN)
def test_a_secret_inside_text_is_hidden(text: str) -> None:
    clean = without_secrets(text)
    assert S not in clean
    assert PLACEHOLDER in clean


@pytest.mark.parametrize("text", SHAPES)
def test_a_value_with_the_shape_of_a_secret_is_hidden_wherever_it_stands(text: str) -> None:
    last = text.split("/")[-1].split("\n")[0]
    for around in ("{}", "see {} there", "x={}", '"{}"', "--option={}", "https://host/?q={}"):
        assert last not in without_secrets(around.format(text))


@pytest.mark.parametrize("text", KEPT)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    assert without_secrets(text) == text


@pytest.mark.parametrize("text", [*HIDDEN, *SHAPES])
def test_a_second_pass_changes_nothing(text: str) -> None:
    once = without_secrets(text)
    assert without_secrets(once) == once


def test_json_stays_json() -> None:
    assert without_secrets(f'--config={{"apiKey": "{S}", "n": 1}}') == f'--config={{"apiKey": "{PLACEHOLDER}", "n": 1}}'


def test_what_follows_a_secret_stays() -> None:
    text = f"export HF_TOKEN={S}; torchrun --nnodes $(LWS_GROUP_SIZE) --api-key {S} --node-rank $(LWS_WORKER_INDEX)"
    assert without_secrets(text) == (
        f"export HF_TOKEN={PLACEHOLDER}; torchrun --nnodes $(LWS_GROUP_SIZE) "
        f"--api-key {PLACEHOLDER} --node-rank $(LWS_WORKER_INDEX)"
    )
    assert without_secrets(f"--token={S} --nnodes $(LWS_GROUP_SIZE)").endswith("--nnodes $(LWS_GROUP_SIZE)")


@pytest.mark.parametrize("text", ["abc", "a b", "$(A) and more", "123456", "$HOME/token", "Bearer abc", " "])
def test_a_secret_value_is_hidden_as_a_whole(text: str) -> None:
    assert hidden_text(text) == PLACEHOLDER


@pytest.mark.parametrize(
    "text", ["", "$(A)", "${A}", "$A", "$(A)/$(B)", "Token $(A)", "true", "No", "null", "auto", "0.5", "8"]
)
def test_a_reference_or_a_plain_word_is_no_secret_value(text: str) -> None:
    assert hidden_text(text) == text


def test_what_databases_refuse_is_replaced() -> None:
    assert storable("a\x00b\ud800c€") == "a\ufffdb?c€"


PIECES = [
    "token",
    "--api-key",
    "password",
    "Bearer ",
    "=",
    ":",
    " ",
    '"',
    "'",
    "\\",
    "$(A)",
    "${",
    "}",
    "://",
    "@",
    "/",
    "?",
]
PIECES += [
    "sig=",
    "&",
    ";",
    "-u ",
    "me:",
    "abc",
    "12345",
    "123456",
    "\n",
    "{",
    "[",
    ",",
    "«",
    "»",
    PLACEHOLDER,
    "hf_",
    "eyJ",
    "-",
]
nasty = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join)


@given(nasty)
def test_no_text_needs_a_third_pass(text: str) -> None:
    once = without_secrets(storable(text))
    assert without_secrets(once) == once
