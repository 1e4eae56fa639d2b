"""Names that say their value is secret, and names that only sound like it."""

from __future__ import annotations

import pytest

from selection.store.secretnames import refers, says_secret

SECRET = [
    # Tokens
    *("token", "TOKEN", "HF_TOKEN", "hfToken", "HFToken", "hftoken", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PROD"),
    *("--token", "--hf-token", "SLACK_BOT_TOKEN", "accessToken", "API_TOKENS", "X-Auth-Token", "example.com/token"),
    # Passwords
    *("password", "dbPassword", "DB_PASSWORD", "PASSWD", "DB_PASS", "--pass", "passphrase", "ssl-keyfile-password"),
    *("db_pwd", "pw", "passcode", "REDIS_PASSWORD_2"),
    # Keys
    *("apiKey", "api_key", "apikey", "API_KEYS", "--api-key", "OPENAI_API_KEY", "X-Api-Key", "secretKey", "accessKey"),
    *("AWS_SECRET_ACCESS_KEY", "secretAccessKey", "AZURE_STORAGE_KEY", "AccountKey", "privateKey", "SSH_PRIVATE_KEY"),
    *("SIGNING_KEY", "MASTER_KEY", "encryption-key"),
    # The rest
    *("secret", "clientSecret", "CLIENT_SECRET", "credentials", "credential", "Authorization", "Cookie", "BASIC_AUTH"),
    *("connectionString", ".dockerconfigjson", "GITHUB_PAT"),
]

INNOCENT = [
    # They count tokens, or name what language models call one.
    *("tokenizer", "--tokenizer", "--tokenizer-path", "max-tokens", "maxTokens", "MAX_TOKEN", "--max-total-tokens"),
    *("eosToken", "--pad-token", "image_token", "time-per-token", "TOKEN_LIMIT", "--speculative-token-map"),
    *("token_budget", "perMillionTokens", "long-prefill-token-threshold"),
    # They point at a secret.
    *("secretName", "secretRef", "secretKeyRef", "nodePublishSecretRef", "passwordFile", "HF_TOKEN_PATH", "tokenUrl"),
    *("imagePullSecrets", "AWS_ACCESS_KEY_ID", "secretProviderClass", "tokenAudience", "API_KEY_HEADER"),
    # They only hold the letters.
    *("key", "keys", "topologyKey", "matchLabelKeys", "keyring", "author", "path", "patch", "pattern", "compass"),
    *("monkey", "hotkey", "tokens", "bypass", "passThrough", "single-pass-through", "", "-", "123"),
]


@pytest.mark.parametrize("name", SECRET)
def test_it_says_secret(name: str) -> None:
    assert says_secret(name)


@pytest.mark.parametrize("name", INNOCENT)
def test_it_does_not_say_secret(name: str) -> None:
    assert not says_secret(name)


def test_a_name_that_goes_on_forever_is_not_trusted() -> None:
    assert says_secret("a" * 501)


@pytest.mark.parametrize("name", ["secretName", "tokenPath", "configMapRef", "uid_id", "serviceAccountTokenExpiration"])
def test_it_refers(name: str) -> None:
    assert refers(name)


@pytest.mark.parametrize("name", ["", "token", "value", "nameless"])
def test_it_does_not_refer(name: str) -> None:
    assert not refers(name)
