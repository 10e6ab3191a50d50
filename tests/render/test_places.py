"""Paths and URIs of findings, as other programs look them up."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepoint.render.places import path_below, quoted_path, uri_of


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("store/a.json", "store/a.json"),
        ("./store//a.json", "store/a.json"),
        ("store/../a.json", "a.json"),
        ("/home/me/store/a.json", "store/a.json"),
        ("file:///home/me/a%20b.json", "a b.json"),
        ("/home/me", "."),
        ("/home/you/a.json", None),
        ("/home/mexico/a.json", None),
        ("../a.json", None),
        ("..", None),
        ("s3://bucket/a.json", None),
        ("zip://a.json::file:///home/me/x.zip", None),
        ("-", None),
        ("", None),
    ],
)
def test_a_path_is_told_where_it_lies_below_the_folder(url: str, path: str | None) -> None:
    assert path_below(url, "/home/me") == path


def test_without_a_folder_only_relative_paths_lie_below() -> None:
    assert path_below("a/b.json", "") == "a/b.json"
    assert path_below("/a/b.json", "") is None


@pytest.mark.parametrize(
    ("url", "uri"),
    [
        ("/etc/a b.json", "file:///etc/a%20b.json"),
        ("../you/a.json", "file:///home/you/a.json"),
        ("file:///etc/a%20b.json", "file:///etc/a%20b.json"),
        ("/etc/100%.json", "file:///etc/100%25.json"),
        ("s3://bucket/a b#c?d%20.json", "s3://bucket/a%20b%23c%3Fd%2520.json"),
        ("https://example.org/a%20b c?d=100%#e", "https://example.org/a%20b%20c?d=100%25#e"),
        ("https://[::1]:80/a", "https://[::1]:80/a"),
        ("zip://a.json::s3://b/x.zip", "zip:a.json%3A%3As3%3A//b/x.zip"),
        ("memory://x", "memory://x"),
        ("/etc/\udcff.json", "file:///etc/%FF.json"),
        ("/etc/日本.json", "file:///etc/%E6%97%A5%E6%9C%AC.json"),
    ],
)
def test_what_lies_elsewhere_has_an_absolute_uri(url: str, uri: str) -> None:
    assert uri_of(url, "/home/me") == uri


def test_a_colon_in_a_relative_path_makes_no_scheme() -> None:
    assert quoted_path("a:b/c d.json") == "a%3Ab/c%20d.json"


@given(st.sampled_from(["", "/", "s3://", "https://h/", "zip://x::", "file://"]), st.text())
def test_any_name_becomes_a_uri_of_ascii(scheme: str, name: str) -> None:
    uri = uri_of(scheme + name, "/home/me")
    assert uri.isascii()
    assert not set(uri) & set(' "<>\\^`{|}\n\x00')
    assert urlsplit(uri).scheme
