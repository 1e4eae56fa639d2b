"""The settings as a whole, each time in a process of its own, as ``manage.py check`` sees them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SERVER = {
    "OME_DASHBOARD_MODE": "server",
    "OME_DASHBOARD_SECRET_KEY": "k" * 50,
    "OME_DASHBOARD_ALLOWED_HOSTS": "ome.example.com",
    "OME_DASHBOARD_HSTS_SECONDS": "31536000",
}


def run(tmp_path: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run this Python on a project that sees these variables and none of ours from outside."""
    # DJANGO_...: a browser test in the same worker sets one of them.
    ours = ("OME_DASHBOARD_", "DATABASE_URL", "DJANGO_")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    environment = {**inherited, "OME_DASHBOARD_DATA": str(tmp_path), **variables}
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, text=True, capture_output=True, check=False
    )


def check(tmp_path: Path, **variables: str) -> tuple[int, list[str], str]:
    """Exit code, the ids of our own problems, and what was printed."""
    done = run(tmp_path, "manage.py", "check", **variables)
    return done.returncode, re.findall(r"ome_dashboard\.([EW]\d+)", done.stderr), done.stderr


def show(tmp_path: Path, expression: str, **variables: str) -> str:
    """The value of an expression over the settings."""
    code = f"import ome_dashboard.settings as s; print({expression})"
    done = run(tmp_path, "-c", code, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_nothing_needs_to_be_set(tmp_path: Path) -> None:
    assert check(tmp_path)[:2] == (0, [])
    assert (tmp_path / "secret-key").stat().st_mode & 0o777 == 0o600


def test_server_mode_says_all_that_it_lacks_at_once(tmp_path: Path) -> None:
    code, ids, printed = check(tmp_path, OME_DASHBOARD_MODE="server")
    assert code != 0
    assert sorted(ids) == ["E001", "E005"]
    assert "HINT" in printed


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"OME_DASHBOARD_MODE": "cluster"}, "E002"),
        ({"OME_DASHBOARD_PORT": "http"}, "E002"),
        ({**SERVER, "OME_DASHBOARD_DEBUG": "1"}, "E003"),
        ({**SERVER, "OME_DASHBOARD_SECRET_KEY": "short"}, "E001"),
        ({**SERVER, "OME_DASHBOARD_ALLOWED_HOSTS": "*"}, "E005"),
        ({"OME_DASHBOARD_DATA": "/dev/null/data"}, "E004"),
        ({**SERVER, "OME_DASHBOARD_DATA": "/dev/null/data"}, "E004"),
        ({"OME_DASHBOARD_DATA": "~nobody-of-this-name/data"}, "E002"),
        ({"DATABASE_URL": "mysql://ann:hunter2@db/ome"}, "E006"),
        ({"OME_DASHBOARD_LOCAL_NAME": "x" * 151}, "E010"),
        ({"OME_DASHBOARD_CORS_ORIGINS": "https://a.example, *"}, "E002"),
        ({"OME_DASHBOARD_CORS_ORIGINS": "https://a.example/portal"}, "E002"),
        ({"OME_DASHBOARD_SIGN_IN_TRIES": "0"}, "E002"),
    ],
)
def test_a_wrong_setting_is_an_error_with_a_hint(tmp_path: Path, variables: dict[str, str], expected: str) -> None:
    code, ids, printed = check(tmp_path, **variables)
    assert code != 0
    assert ids == [expected]
    assert "HINT" in printed
    assert "Traceback" not in printed
    assert "hunter2" not in printed


def test_a_name_that_is_no_setting_is_a_warning(tmp_path: Path) -> None:
    code, ids, printed = check(tmp_path, OME_DASHBOARD_PROT="8000")
    assert (code, ids) == (0, ["W001"])
    assert "OME_DASHBOARD_PROT" in printed


def test_server_mode_passes_djangos_own_deployment_checks(tmp_path: Path) -> None:
    done = run(tmp_path, "manage.py", "check", "--deploy", **SERVER)
    found = set(re.findall(r"security\.W\d+", done.stderr))
    # HSTS for subdomains (W005) and preloading (W021) are for the owner of the domain to choose.
    # The key of this test is fifty times the same letter (W009).
    assert done.returncode == 0, done.stderr
    assert found <= {"security.W005", "security.W009", "security.W021"}


def test_server_mode_wants_a_sign_in_and_https(tmp_path: Path) -> None:
    shown = show(
        tmp_path,
        "'django.contrib.auth.middleware.LoginRequiredMiddleware' in s.MIDDLEWARE, s.SESSION_COOKIE_SECURE,"
        " s.CSRF_COOKIE_SECURE, s.SECURE_SSL_REDIRECT, s.SECURE_HSTS_SECONDS, s.ALLOWED_HOSTS",
        **SERVER,
    )
    assert shown == "True True True True 31536000 ['ome.example.com']"


def test_local_mode_answers_to_loopback_names_alone(tmp_path: Path) -> None:
    shown = show(tmp_path, "s.ALLOWED_HOSTS, s.LISTEN_HOST", OME_DASHBOARD_ALLOWED_HOSTS="ome.example.com")
    assert shown == "['localhost', '127.0.0.1', '[::1]'] 127.0.0.1"


def test_other_sites_are_let_in_by_name_alone(tmp_path: Path) -> None:
    asked = "s.CORS_ALLOWED_ORIGINS, [each for each in s.MIDDLEWARE if 'cors' in each], s.CORS_ALLOW_CREDENTIALS"
    assert show(tmp_path, asked) == "[] [] False"
    named = show(tmp_path, asked, OME_DASHBOARD_CORS_ORIGINS="https://a.example, http://localhost:3000")
    assert named == "['https://a.example', 'http://localhost:3000'] ['corsheaders.middleware.CorsMiddleware'] False"


def test_wrong_settings_do_not_serve_under_another_server_either(tmp_path: Path) -> None:
    done = run(tmp_path, "-c", "import ome_dashboard.wsgi", OME_DASHBOARD_MODE="server")
    assert done.returncode != 0
    assert "ImproperlyConfigured: OME_DASHBOARD_SECRET_KEY is not set" in done.stderr


def test_every_setting_is_in_the_table_of_the_documentation(tmp_path: Path) -> None:
    asked = show(tmp_path, "' '.join(sorted(s.ENVIRONMENT.asked))").split()
    documented = re.findall(r"^\| `([A-Z_]+)` \|", (ROOT / "docs" / "configuration.md").read_text(), re.MULTILINE)
    assert sorted(documented) == asked


def test_every_problem_is_in_the_table_of_the_documentation() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "ome_dashboard").glob("*.py"))
    ids = set(re.findall(r'"(?:ome_dashboard\.)?([EW]\d{3})"', sources))
    documented = re.findall(
        r"^\| `ome_dashboard\.([EW]\d+)` \|", (ROOT / "docs" / "configuration.md").read_text(), re.M
    )
    assert ids == set(documented)
    assert len(documented) == len(ids)
