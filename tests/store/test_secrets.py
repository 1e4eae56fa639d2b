"""No secret of a manifest reaches the database or any output, wherever it stood."""

from __future__ import annotations

import json
from pathlib import Path

from tests.faces.cli import as_yaml, manage
from tests.store.builders import manager, model, revision, runtime, service, workload
from tests.store.databases import OwnDatabase


def planted(number: int) -> str:
    return f"planted-{number:02d}-hunter2"


P = [planted(number) for number in range(40)]
TOKEN = "hf_plantedPlantedPlanted0123"
KEY = "-----BEGIN PRIVATE KEY-----\nplantedPlantedKey\n-----END PRIVATE KEY-----"


def env(*pairs: tuple[str, object]) -> dict[str, object]:
    return {"name": "main", "env": [{"name": name, "value": value} for name, value in pairs]}


LAST_APPLIED = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps({"spec": {"apiKey": P[0]}})}

FLEET = [
    model(
        storage={
            "storageUri": f"https://me:{P[1]}@host/x?sig={P[2]}",
            "parameters": {"token": P[3], "secretAccessKey": P[4], "note": TOKEN},
        }
    ),
    runtime(
        "vllm",
        annotations={"example.com/api-token": P[5], "example.com/applied": json.dumps({"password": P[6]})},
        engineConfig={
            "runner": {**env(("HF_TOKEN", P[7]), ("URL", f"redis://:{P[8]}@host")), "args": ["--api-key", P[9]]},
            "initContainers": [
                {**env(("OPENAI_API_KEY", P[10])), "command": ["sh", "-c", f"export DB_PASSWORD={P[11]}"]}
            ],
            "annotations": {"ome.io/deploymentMode": f"password={P[12]}"},
            "volumes": [{"name": "x", "csi": {"driver": "d", "volumeAttributes": {"clientSecret": P[13]}}}],
        },
        routerConfig={"runner": {"name": "router", "args": [f"--header=Authorization: Bearer {P[14]}", KEY]}},
    ),
    runtime("odd", engineConfig=f"HF_TOKEN={P[15]}"),
    runtime("odder", supportedModelFormats=[f"--token={P[16]}"]),
    {**runtime("applied"), "metadata": {"name": "applied", "annotations": LAST_APPLIED}},
    service("chat", engine={"runner": env(("PIN_PASSWORD", 12345678901))}),
    service("named", model={"name": "nothing"}, runtime={"name": "nothing", "token": P[17]}),
    {**service("status"), "status": {"conditions": [{"type": "x", "message": f"login with password={P[18]}"}]}},
    revision("cr-vllm-0a1b2c3d", {"spec": {"engineConfig": {"runner": env(("HF_TOKEN", P[19]))}}, "token": P[20]}),
    revision("cr-vllm-0a1b2c3e", json.dumps({"spec": {"password": P[21]}})),
    workload("Deployment", "chat-engine", "chat")
    | {"spec": {"template": {"spec": {"containers": [env(("API_KEY", P[22]))]}}}},
    manager("ome-manager:v1.3.0"),
]
SECRETS = [*P, TOKEN, "plantedPlantedKey", "12345678901"]


def test_no_secret_reaches_the_database_or_any_output(own_database: OwnDatabase, tmp_path: Path) -> None:
    path = tmp_path / "fleet.yaml"
    path.write_text(as_yaml(*FLEET))
    text = path.read_text()
    assert sum(secret in text for secret in SECRETS) == 26, "they are there to be found"
    runs: list[tuple[str | Path, ...]] = [
        ("sync", "--from", path, "--cluster", "east"),
        ("explain", "--isvc", "ml/chat", "-o", "json"),
        ("effective", "vllm", "-o", "yaml"),
        ("services", "-o", "json"),
    ]
    for arguments in runs:
        done = manage(*arguments, env=own_database.env)
        assert done.code == 0, done.err
        assert not [secret for secret in SECRETS if secret in done.out + done.err], arguments
    everything = own_database.everything()
    assert b"ome-manager:v1.3.0" in everything
    assert [secret for secret in SECRETS if secret.encode() in everything] == []
