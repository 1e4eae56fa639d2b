"""By what address a client is counted."""

from __future__ import annotations

import pytest
from django.test import RequestFactory

from selection.people.addresses import client_address


@pytest.mark.parametrize(
    ("told", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("::1", "::1"),
        ("", None),
        ("unix:", None),
        ("192.0.2.1, 192.0.2.2", None),
    ],
)
def test_an_address_is_counted_by_what_its_client_cannot_change(told: str, counted: str | None) -> None:
    request = RequestFactory().get("/", REMOTE_ADDR=told, headers={"X-Forwarded-For": "198.51.100.7"})
    assert client_address(request) == counted
