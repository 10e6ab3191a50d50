"""Where the URI of an artifact leads, told from its text: no form of ``..`` and no second scheme gets through."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepoint.core.uri import Address, address_of, leads_outside, path_of

SCHEMES = frozenset({"s3", "https"})


@pytest.mark.parametrize(
    "uri",
    [
        "../x",
        "a/../../x",
        "%2e%2e/x",
        "%2E%2E%2Fx",
        ".%2e/x",
        "..%2fx",
        "..%5Cx",
        "%252e%252e%252fx",
        "%25252e%25252e/x",
        "/etc/hostname",
        "%2Fetc/hostname",
        "//host/share",
        "%5c%5chost%5cshare",
        "~/x",
        "%7Eroot/x",
        "file:x",
        "FILE:///etc/hostname",
        "%66ile:///etc/hostname",
        "%20file:///etc/hostname",
        "local:///etc/hostname",
        "C:x",
        "c:/x",
        "C%3A%5Cx",
    ],
)
def test_what_names_this_machine_is_known_as_such_however_it_is_encoded(uri: str) -> None:
    assert leads_outside(uri)


@pytest.mark.parametrize(
    "uri",
    ["artifacts/x", "a..b/c", "...", "..a/b", "%2e/x", "s3://b/../x", "https://h/x", "urn:x:y", "http://[x"],
)
def test_other_uris_are_not_taken_for_it(uri: str) -> None:
    assert not leads_outside(uri)


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("artifacts/x", "artifacts/x"),
        ("./artifacts/./x", "artifacts/x"),
        ("my%20plan.md", "my plan.md"),
        ("caf%C3%A9", "café"),
        ("a%252fb", "a%2fb"),  # decoded once: the name of an object may hold a percent sign
        ("CON", "CON"),
        ("", None),
        (".", None),
        ("x?sig=secret", None),
        ("x#part", None),
        ("%ff", None),
        ("s3://bucket/x", None),
        ("urn:example:x", None),
    ],
)
def test_a_relative_reference_names_a_path_below_its_run(uri: str, path: str | None) -> None:
    assert path_of(uri) == path


@pytest.mark.parametrize(
    ("uri", "address"),
    [
        ("s3://bucket/a/b.bin", Address("s3", "bucket", "a/b.bin", "")),
        ("S3://bucket/a%20b", Address("s3", "bucket", "a b", "")),
        ("https://h:8443/a%20b?sig=x", Address("https", "h:8443", "a%20b", "?sig=x")),
    ],
)
def test_an_address_of_an_allowed_scheme_is_taken_apart(uri: str, address: Address) -> None:
    assert address_of(uri, SCHEMES) == address


@pytest.mark.parametrize(
    "uri",
    [
        "gs://bucket/x",
        "artifacts/x",
        "s3:bucket/x",
        "s3://bucket",
        "s3://bucket/",
        "s3:///x",
        "s3://bucket//x",
        "s3://bucket/a/",
        "s3://bucket/../other/x",
        "s3://bucket/%2e%2e/x",
        "s3://bucket/%252e%252e/x",
        "s3://bucket/a%2f..%2f..%2fx",
        "s3://bucket/a%5c..%5cx",
        "s3://bucket/./x",
        "s3://bucket/x?versionId=1",
        "s3://bucket/x#y",
        "s3://key:secret@bucket/x",
        "https://user:pass@host/x",
        "s3://bucket/x::file:///etc/hostname",
        "zip://x::s3://bucket/x",
        "s3://bucket/%ff",
        "https://host/a/%2e%2e/x",
        "https://host\\@other/x",
    ],
)
def test_an_address_that_could_mean_another_place_is_not_followed(uri: str) -> None:
    assert address_of(uri, SCHEMES) is None


@given(st.text(st.sampled_from("./\\%2eE5cCfF:~aA"), max_size=24))
def test_what_is_not_known_as_leading_outside_has_no_step_up_in_it(uri: str) -> None:
    path = path_of(uri)
    if path is not None and not leads_outside(uri):
        assert ".." not in re.split(r"[/\\]", path)
        assert not path.startswith(("/", "\\"))
