"""The conclusion of a trial of storage: what it means and what to do, for every way in which it can end."""

from __future__ import annotations

from typing import Any

import pytest

from safepoint.render.doctor import _MEANS, VERDICTS, doctor_text, verdict_of
from safepoint.render.terminal import Screen
from safepoint.store.probing import PROMISES


def report(
    *, claim: str | None = "If-None-Match: *", scratch: bool = True, left: Any = (), **said: Any
) -> dict[str, Any]:
    """A report in which everything held but what is `said`: a result and how."""
    proofs = []
    for name, promise in PROMISES.items():
        proven, how = said.get(name, ("untried", "cannot be tried") if name == "durable" else ("yes", "seen"))
        proofs.append({"name": name, "promise": promise, "promised": True, "proven": proven, "how": how})
    return {
        "url": "s3://bucket/store",
        "verdict": verdict_of(proofs),
        "backend": "s3",
        "driver": "fsspec",
        "libraries": [{"name": "s3fs", "version": "2026.9.0", "at_least": "2025.9", "tooOld": False}],
        "claim": claim,
        "durable": True,
        "durableBy": "https://example.org/durability",
        "scratch": "s3://bucket/store/.tmp-doctor-0" if scratch else None,
        "left": list(left),
        "proofs": proofs,
    }


def conclusion(**said: Any) -> str:
    text = doctor_text(report(**said), Screen())
    return text[text.index(next(words for _, _, words in VERDICTS.values() if f"\n{words}" in text)) :]


@pytest.mark.parametrize("name", [name for name in PROMISES if name != "durable"])
def test_every_broken_promise_has_its_consequence_and_its_remedy(name: str) -> None:
    document = report(**{name: ("no", "seen otherwise")})
    assert document["verdict"] == "notEnforceable"
    text = doctor_text(document, Screen())
    assert "NOT ENFORCEABLE HERE: " in text
    for words in _MEANS[name]:
        assert words in text


@pytest.mark.parametrize("name", [name for name in PROMISES if name != "durable"])
def test_what_was_not_tried_is_not_proven(name: str) -> None:
    document = report(**{name: ("untried", "no answer")})
    assert document["verdict"] == "notTried"
    assert f"NOT PROVEN: {PROMISES[name]}? Not tried: no answer." in doctor_text(document, Screen())


def test_that_nobody_can_try_durability_stands_against_nothing() -> None:
    assert report()["verdict"] == "proven"
    assert "it is promised: https://example.org/durability" in conclusion()


def test_where_two_can_win_that_is_all_that_is_said() -> None:
    no = ("no", "so")
    text = conclusion(oneWinner=no, empty=no, lostAnswer=no, race=no)
    assert text.count("that means") == text.count("what to do") == 1
    assert "NOT ENFORCEABLE HERE: the condition (If-None-Match: *) is accepted, and not kept." in text


def test_a_promise_of_one_writer_is_a_word_and_no_proof() -> None:
    text = conclusion(claim=None, oneWinner=("no", "no way is known; you promise that there is one writer"))
    assert "NOT ENFORCEABLE HERE: that there is one writer rests on your word alone." in text


def test_what_is_left_behind_is_named_or_counted() -> None:
    assert "left behind  s3://b/x; readers pass over that" in conclusion(left=["s3://b/x"])
    assert "left behind  2 objects below s3://bucket/store/.tmp-doctor-0; " in conclusion(left=["a", "b"])


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"answers": ("untried", "no usable answer")}, "again when it answers"),
        ({"writes": ("untried", "refused by these credentials")}, "credentials of a worker"),
        ({"writes": ("untried", "there is no such bucket")}, "that the place is there"),
        ({"deletes": ("untried", "denied")}, "shall ever be pruned or erased"),
        ({"race": ("untried", "no clear answer")}, "with more --rounds"),
    ],
)
def test_whatever_could_not_be_tried_comes_with_what_to_do(said: dict[str, Any], words: str) -> None:
    assert words in conclusion(scratch="writes" not in said and "answers" not in said, **said)


def test_nothing_is_wider_than_the_terminal() -> None:
    no = ("no", "4 processes: 25 of 25 names had several winners")
    text = doctor_text(report(race=no, freshReads=("untried", "")), Screen(width=80))
    assert max(map(len, text.splitlines())) <= 80
    assert "\n  not reached  others see it at once\n" in text


def test_a_name_from_outside_cannot_move_the_cursor() -> None:
    document = report(left=["s3://b/\x1b[2J"]) | {"url": "s3://b\x1b[2J"}
    assert "\x1b" not in doctor_text(document, Screen())
