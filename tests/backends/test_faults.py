"""Networks and servers that fail: nothing doubled, lost or torn, and nobody is told what is not so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from chains import RUN, append_all, misread, through_faults
from faultproxy import Dice, Fault, Request
from foreign import put_all
from places import REMOTE, Place

from safepoint.reader import load_run
from safepoint.recorder import Unclear, log, start_run
from safepoint.store import Outcome, UnreachableError
from safepoint.store.layout import journal_key

NUMBERS = 10
KEY = journal_key("r1", 1)
MINE, OTHERS = b'{"nonce":"mine"}', b'{"nonce":"others"}'


pytestmark = pytest.mark.usefixtures("short_pauses")


@pytest.fixture(autouse=True)
def no_long_pauses_of_the_recorder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "PAUSE", 0.01)


def again(act: Callable[[], None]) -> None:
    """Does it until the store says what became of it, as its user would."""
    for _ in range(10):
        try:
            return act()
        except (Unclear, UnreachableError):
            continue
    raise AssertionError("it never became clear")


@pytest.mark.parametrize("place", REMOTE, indirect=True)
def test_a_chain_of_two_writers_survives_every_fault(place: Place, seed: int) -> None:
    chain = append_all(place, Dice(seed), NUMBERS)
    assert chain.lies == []
    assert chain.missing == []
    assert chain.torn == []
    assert len(chain.held) == NUMBERS
    assert chain.faults, "nothing went wrong"


@pytest.mark.parametrize("place", REMOTE, indirect=True)
def test_readers_are_told_the_whole_or_that_nothing_is_known(place: Place, seed: int) -> None:
    truth = {journal_key(RUN, number): b'{"n":%d}' % number * 500 for number in range(1, 5)}
    put_all(place.foreign, truth)
    with through_faults(place, Dice(seed, share=0.4)) as (proxy, (store,)):
        assert misread(store, truth) == []
        assert proxy.done.total(), "nothing went wrong"


@pytest.mark.parametrize("place", REMOTE, indirect=True)
def test_a_recorded_run_survives_every_fault(place: Place, seed: int) -> None:
    dice = Dice(seed, share=0)
    with through_faults(place, dice) as (proxy, (store,)):
        run = start_run(store, "run-1", workflow="publish", holder="worker-1")
        dice.share = 0.3
        saved = 0
        while saved < 10 or not proxy.done.total():  # now and then the dice spare the first ten
            saved += 1
            again(lambda number=saved: run.checkpoint(f"cp-{number}", state="s", step_name="step"))
        again(run.complete)
    loaded = load_run(place.open(), "run-1").run
    assert loaded is not None
    assert not loaded.faults
    kinds = Counter(record.kind for record in loaded.records)
    assert (kinds["checkpoint"], kinds["lease"], loaded.status) == (saved, 1, "completed")


@pytest.mark.parametrize("there", [None, OTHERS], ids=["free", "taken"])
@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.name.lower())
@pytest.mark.parametrize("place", REMOTE, indirect=True)
def test_after_one_fault_the_outcome_is_what_is_there(
    place: Place, fault: Fault, there: bytes | None
) -> None:
    if there is not None:
        place.foreign.put(KEY, there)
    left = [fault]

    def once(request: Request) -> Fault | None:
        return left.pop() if left and request.writes else None

    with through_faults(place, once) as (_, (store,)):
        assert store.put_if_absent(KEY, MINE) is (Outcome.WON if there is None else Outcome.LOST)
    assert not left, "nothing went wrong"
    assert place.foreign.everything() == {KEY: there or MINE}


@pytest.mark.parametrize("place", REMOTE, indirect=True)
def test_a_server_that_only_fails_gives_no_outcome_at_all(place: Place) -> None:
    with through_faults(place, lambda _: Fault.SLOW_DOWN) as (_, (store,)):
        assert store.put_if_absent(KEY, MINE) is Outcome.UNKNOWN
        with pytest.raises(UnreachableError) as caught:
            store.get(KEY)
        assert "injected" not in str(caught.value)
    assert place.foreign.everything() == {}
