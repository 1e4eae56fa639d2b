"""The two releases of OME as data."""

from __future__ import annotations

import pytest

from selection.rules.semantics import V1_2, V1_3, VERSIONS, semantics_of


def test_each_release_is_found_by_its_version() -> None:
    assert semantics_of("1.3") is V1_3
    assert semantics_of("1.2") is V1_2
    assert all(semantics_of(version).version == version for version in VERSIONS)


@pytest.mark.parametrize("version", ["", "1", "1.1", "v1.3", "1.30", "latest"])
def test_an_unknown_release_is_an_error_that_names_the_known(version: str) -> None:
    with pytest.raises(ValueError, match=f"'{version}' is not known; known are 1.3, 1.2"):
        semantics_of(version)
