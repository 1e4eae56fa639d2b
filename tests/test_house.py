"""The house keeps its shape: floors, sizes, names, pins. Each test says what would break it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from django.core.management import call_command

from ome_dashboard import __version__

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 400


def tracked(*patterns: str) -> list[Path]:
    """Files that git knows or would add, as paths from the root."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [Path(name) for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def modules(*folders: str) -> list[Path]:
    """Python modules with something in them; migrations are Django's."""
    found = tracked(*(f"{folder}/**.py" for folder in folders))
    return [path for path in found if "migrations" not in path.parts and (ROOT / path).stat().st_size]


def test_imports_only_go_down() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr


def test_a_module_is_a_page_or_two() -> None:
    sizes = {str(path): len((ROOT / path).read_text().splitlines()) for path in modules("selection", "ome_dashboard")}
    long = {path: lines for path, lines in sizes.items() if lines > LONGEST}
    assert not long, "look for the two things it is"


def test_a_module_says_what_it_is_and_what_it_offers() -> None:
    for path in modules("selection"):
        tree = ast.parse((ROOT / path).read_text())
        names = {target.id for node in tree.body for target in _targets(node) if isinstance(target, ast.Name)}
        assert "__all__" in names, f"{path} has no __all__"
        assert ast.get_docstring(tree), f"{path} has no docstring"


def _targets(node: ast.stmt) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign) else []


@pytest.mark.django_db
def test_every_change_of_a_model_has_its_migration() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=1)


def test_no_third_party_or_built_file_is_tracked() -> None:
    for path in tracked():
        assert not re.search(r"(\.min\.(js|css)|\.map|\.whl|\.so|\.pyc)$|(^|/)(vendor|node_modules)/", str(path)), path
        assert (ROOT / path).stat().st_size < 1_000_000, f"{path} is larger than a source file is"


def test_no_script_or_style_was_squeezed() -> None:
    for path in tracked("static/**.js", "static/**.css"):
        longest = max((len(line) for line in (ROOT / path).read_text().splitlines()), default=0)
        assert longest < 300, f"{path} looks minified"


def test_templates_have_nothing_that_the_content_security_policy_forbids() -> None:
    forbidden = re.compile(
        r"<style|\sstyle=|\son[a-z]+=\"|\shx-on|javascript:"
        r"|<script(?![^>]*\ssrc=)(?![^>]*type=\"application/json\")"
    )
    for path in tracked("templates/**.html"):
        found = forbidden.search((ROOT / path).read_text())
        assert not found, f"{path}: {found.group(0) if found else ''}"


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_requirements_are_pinned_with_hashes(name: str) -> None:
    text = (ROOT / name).read_text()
    assert "://" not in text, "no address of an index belongs in here"
    entries = [part for part in re.split(r"\n(?=[a-z0-9])", text.replace("\\\n", " ")) if not part.startswith("#")]
    assert len(entries) > 10
    for entry in entries:
        assert re.match(r"[a-z0-9._-]+(\[[a-z,]+\])?==\S+ .*--hash=sha256:[0-9a-f]{64}", entry), entry[:80]


@pytest.mark.parametrize("name", ["requirements", "requirements-dev"])
def test_every_requirement_is_pinned(name: str) -> None:
    pinned = set(re.findall(r"^([a-z0-9._-]+)(?:\[[a-z,]+\])?==", (ROOT / f"{name}.txt").read_text(), re.M))
    wanted = re.findall(r"^([A-Za-z0-9._-]+)", (ROOT / f"{name}.in").read_text(), re.M)
    assert {each.lower() for each in wanted if not each.startswith("-")} <= pinned


def test_the_readme_names_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    for path in tracked("*.md", "docs/**.md"):
        named = set(re.findall(r"(?<![\w-])make ([a-z-]+)(?=[`\s]*$|`| [A-Z]+=)", (ROOT / path).read_text(), re.M))
        assert named <= targets, f"{path} names {sorted(named - targets)}"


def test_every_target_is_explained() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.M)
    assert phony is not None
    explained = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.M))
    assert explained == set(phony.group(1).split())


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == __version__
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_links_between_documents_lead_somewhere() -> None:
    for path in tracked("*.md", "docs/**.md"):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / path).read_text()):
            assert (ROOT / path.parent / target).exists(), f"{path} links to {target}"
