"""What a kubeconfig says about a cluster and a user, checked and made ready for the official client.

Every check is here because the client would otherwise fail late, in words that don't name the file or that quote
a credential, or go on without credentials.
"""

from __future__ import annotations

import base64
import binascii
import logging
import os
import shutil
import ssl
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kubernetes.client import Configuration

from selection.cluster.errors import ConfigurationError
from selection.cluster.kubeconfig import Entry

__all__ = [
    "check_credentials",
    "check_tls",
    "keep_plugins_quiet",
    "prepare_cluster",
    "prepare_user",
    "refresh_from_file",
    "renew_one_at_a_time",
    "token_from",
]

TOKEN_AGE = 60.0
"""Seconds after which a token file is read again: Kubernetes renews projected tokens well before they expire."""
RENEWAL_PAUSE = 10.0
AUTH_PROVIDERS = {"gcp", "oidc"}
STRANGERS = {"KEY_VALUES_MISMATCH", "KEY_TYPE_MISMATCH", "NO_CERTIFICATE_ASSIGNED"}
"""OpenSSL's words for a key that is another certificate's; the last for a key of another kind."""


def keep_plugins_quiet() -> None:
    """Let nothing be logged of what a plugin or an identity provider said when it failed: it may quote a secret.

    The official client logs that, in full, to the root logger. Ours is told by ``check_credentials``.
    """
    logging.getLogger().addFilter(_no_words_of_plugins)


def _no_words_of_plugins(record: logging.LogRecord) -> bool:
    return record.module != "kube_config"


def prepare_cluster(entry: Entry) -> dict[str, Any]:
    """Return a cluster's settings for the official client, with absolute paths.

    Raises:
        ConfigurationError: the server or its certificate authority is missing or no such thing.
    """
    server = entry.text("server")
    if server is None:
        raise ConfigurationError(f"{entry.where} has no server")
    if not is_address(server):
        raise ConfigurationError(f"{entry.where}: server is not an http:// or https:// address")
    if not isinstance(entry.value.get("insecure-skip-tls-verify", False), bool):
        raise ConfigurationError(f"{entry.where}: insecure-skip-tls-verify is not true or false")
    for key in ("tls-server-name", "proxy-url"):
        entry.text(key)
    settings = {key: value for key, value in entry.value.items() if value not in (None, "")}
    _file_or_data(entry, settings, "certificate-authority")
    return settings


def prepare_user(entry: Entry) -> dict[str, Any]:
    """Return a user's settings for the official client, with absolute paths and the token of a token file.

    Raises:
        ConfigurationError: a file isn't there, data isn't base64, or the credentials are of a kind that can't be used.
    """
    settings = {key: value for key, value in entry.value.items() if value not in (None, "")}
    pair = [_file_or_data(entry, settings, key) for key in ("client-certificate", "client-key")]
    if pair[0] != pair[1]:
        has, lacks = ("client-certificate", "client-key") if pair[0] else ("client-key", "client-certificate")
        raise ConfigurationError(f"{entry.where} has a {has} but no {lacks}")
    token_file = entry.path("tokenFile")
    if token_file is not None:
        settings["token"] = token_from(token_file, entry.where)
        del settings["tokenFile"]
    elif (token := entry.text("token")) is not None:
        settings["token"] = _checked_token(token, f"{entry.where}: token")
    for key in ("username", "password"):
        entry.text(key)
    if "exec" in settings:
        settings["exec"] = _prepare_exec(entry, settings["exec"])
    if "auth-provider" in settings:
        _check_auth_provider(entry, settings["auth-provider"])
    if any(settings.get(key) for key in ("as", "as-groups", "as-uid", "as-user-extra")):
        raise ConfigurationError(f"{entry.where} impersonates somebody (as), which is not supported")
    return settings


def token_from(path: Path, where: str) -> str:
    """Return the token that a file holds.

    Raises:
        ConfigurationError: the file can't be read or holds no token.
    """
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise ConfigurationError(f"{where}: the token file {path} can't be read") from None
    if not token:
        raise ConfigurationError(f"{where}: the token file {path} is empty")
    return _checked_token(token, f"{where}: the token file {path}")


def refresh_from_file(configuration: Configuration, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
    """Let a configuration read its token from a file again while it is used; a token that can't be read stays."""
    read_at = clock()

    def refresh(current: Configuration) -> None:
        nonlocal read_at
        if clock() - read_at < TOKEN_AGE:
            return
        read_at = clock()
        try:
            current.api_key["BearerToken"] = f"Bearer {token_from(path, 'user')}"
        except ConfigurationError:
            return  # it is being replaced just now, or gone: the API server says whether the old one still does

    configuration.refresh_api_key_hook = refresh  # type: ignore[assignment]


def renew_one_at_a_time(configuration: Configuration, clock: Callable[[], float] = time.monotonic) -> None:
    """Let what renews a token before a request run for one thread at a time, and at most each ten seconds.

    A plugin whose token has expired, and that fails, would otherwise run for every request of every thread.
    """
    renew: Callable[[Configuration], None] | None = configuration.refresh_api_key_hook
    if renew is None:
        return
    lock = threading.Lock()
    not_before = clock()

    def renew_now_and_then(current: Configuration) -> None:
        nonlocal not_before
        with lock:
            if clock() < not_before:
                return
            try:
                renew(current)
            finally:
                not_before = clock() + RENEWAL_PAUSE

    configuration.refresh_api_key_hook = renew_now_and_then  # type: ignore[assignment]


def check_credentials(configuration: Configuration, user: Entry) -> None:
    """Make sure that what a user is said to sign in with was found.

    The official client only logs what goes wrong there, and would go on as nobody.

    Raises:
        ConfigurationError: an exec plugin or an auth provider gave nothing.
    """
    if configuration.api_key.get("BearerToken") or configuration.cert_file:
        return
    if "exec" in user.value:
        command = user.value["exec"].get("command")
        words = f"its exec plugin {command} gave no credentials; run it by hand to see why"
        raise ConfigurationError(f"{user.where}: {words}")
    if "auth-provider" in user.value:
        raise ConfigurationError(f"{user.where}: its auth-provider gave no token")


def check_tls(configuration: Configuration, cluster: Entry, user: Entry | None) -> None:
    """Make sure that the certificates can be used, before the first connection tells it worse.

    Raises:
        ConfigurationError: a certificate or key isn't PEM, or the two don't fit together.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if configuration.ssl_ca_cert:
        try:
            context.load_verify_locations(cafile=configuration.ssl_ca_cert)
        except (ssl.SSLError, OSError):
            raise ConfigurationError(f"{cluster.where}: certificate-authority holds no PEM certificate") from None
    if configuration.cert_file and user is not None:
        try:
            context.load_cert_chain(configuration.cert_file, configuration.key_file, password=_no_password)
        except ssl.SSLError as error:
            words = "can't be used: they must be PEM, the key without a password"
            if error.reason in STRANGERS:
                words = "don't belong together"
            raise ConfigurationError(f"{user.where}: client certificate and key {words}") from None
        except (OSError, ValueError):
            raise ConfigurationError(f"{user.where}: client certificate and key can't be read") from None


def is_address(server: str) -> bool:
    """Tell whether this is an address that an API server can have."""
    try:
        parts = urlsplit(server)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _file_or_data(entry: Entry, settings: dict[str, Any], key: str) -> bool:
    """Check a certificate or key that is given as data (which wins) or as a file; tell whether it is."""
    data_key = f"{key}-data"
    data = entry.text(data_key)
    if data is not None:
        try:
            base64.b64decode("".join(data.split()), validate=True)
        except (binascii.Error, ValueError):
            raise ConfigurationError(f"{entry.where}: {data_key} is not base64") from None
        settings.pop(key, None)
        return True
    path = entry.path(key)
    if path is None:
        return False
    settings[key] = str(path)
    return True


def _checked_token(token: str, where: str) -> str:
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigurationError(f"{where} holds characters that no token has")
    return token


def _prepare_exec(entry: Entry, plugin: Any) -> dict[str, Any]:
    if not isinstance(plugin, dict) or not isinstance(plugin.get("command"), str) or not plugin["command"]:
        raise ConfigurationError(f"{entry.where}: exec names no command")
    if not isinstance(plugin.get("apiVersion"), str):
        raise ConfigurationError(f"{entry.where}: exec has no apiVersion")
    command = plugin["command"]
    if os.sep in command:  # Kubernetes: a relative path is meant from the kubeconfig's folder
        command = str((entry.file.parent / command).absolute())
    if shutil.which(command) is None:
        hint = plugin.get("installHint")
        more = f" ({' '.join(hint.split())[:300]})" if isinstance(hint, str) and hint else ""
        raise ConfigurationError(f"{entry.where}: its exec plugin {plugin['command']} is not installed{more}")
    return {**plugin, "command": command}


def _check_auth_provider(entry: Entry, provider: Any) -> None:
    name = provider.get("name") if isinstance(provider, dict) else None
    if name not in AUTH_PROVIDERS:
        words = f"auth-provider {str(name)[:80]!r} is not supported; use an exec plugin"
        raise ConfigurationError(f"{entry.where}: {words}")


def _no_password() -> str:
    """Answer for a key with a password; without this OpenSSL would ask on the terminal."""
    return ""
