"""The question in the words that ask it again: the store is opened as it was, and no secret is told."""

from __future__ import annotations

from safepoint.render.asked import Asked

WORDS = ("--storage-option", "endpoint_url=http://h:9000", "--storage-option", "secret=…")
OPENING = "--storage-option endpoint_url=http://h:9000 --storage-option secret=…"


def test_every_command_opens_the_store_as_it_was_opened() -> None:
    asked = Asked("s3://b/s", options=("--goal", "unwind"), policy_file="p.toml", storage_words=WORDS)
    assert asked.command("show", "r 1") == f"safepoint show s3://b/s --run 'r 1' {OPENING}"
    again = asked.again("r", "f.json")
    assert again == (
        f"safepoint guard s3://b/s --run r --goal unwind --policy p.toml --facts f.json {OPENING}"
    )


def test_python_opens_the_store_as_it_was_opened() -> None:
    asked = Asked("s3://b/s", storage={"endpoint_url": "http://h:9000", "anon": False, "secret": ...})
    assert asked.imports == ["  from safepoint import open_store"]
    assert asked.opened == "open_store('s3://b/s', endpoint_url='http://h:9000', anon=False, secret=…)"


def test_an_option_that_is_no_name_of_python_is_given_in_a_dict() -> None:
    asked = Asked("s", storage={"anon": True, "client-kwargs": ..., "from": "x"})
    assert asked.opened == "open_store('s', anon=True, **{'client-kwargs': …, 'from': 'x'})"


def test_a_store_without_options_is_its_place() -> None:
    assert (Asked("my store").opened, Asked("my store").imports) == ("'my store'", [])
