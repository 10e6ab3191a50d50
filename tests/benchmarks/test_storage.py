from __future__ import annotations

import json
import re

import pytest
from benchmarks.object_client import CONNECTIONS, main
from benchmarks.object_server import BUCKET, SIZE, Objects, body_of, key_of
from benchmarks.processes import Cost
from benchmarks.storage import KEYS, READING, _server, listing, reading


def cost(peak: int = 40_000_000, **figures: float) -> Cost:
    return Cost(cpu=1, wall=1, peak=peak, status=0, said=json.dumps(figures), crashed=False)


def test_the_server_lists_page_after_page() -> None:
    bucket = Objects(1_500)
    first = bucket.answer(b"GET", f"/{BUCKET}?list-type=2&prefix=".encode()).decode()
    assert first.count("<Key>") == 1_000
    assert "<IsTruncated>true</IsTruncated><NextContinuationToken>1000<" in first
    second = bucket.answer(b"GET", f"/{BUCKET}?list-type=2&continuation-token=1000".encode()).decode()
    assert re.findall(r"<Key>(.*?)</Key>", second) == bucket.keys[1_000:]
    assert "<IsTruncated>false</IsTruncated><Contents>" in second
    assert bucket.answer(b"GET", b"/pages").endswith(b"\r\n\r\n2")


def test_every_object_has_the_same_size_and_its_own_text() -> None:
    assert {len(body_of(number)) for number in (0, 7, 99_999)} == {SIZE}
    assert json.loads(body_of(7))["number"] == 7
    assert Objects(8).answer(b"GET", f"/{BUCKET}/{key_of(7)}".encode()).endswith(body_of(7))
    assert Objects(8).answer(b"HEAD", f"/{BUCKET}/{key_of(7)}".encode()).endswith(b"\r\n\r\n")
    assert Objects(8).answer(b"GET", b"/other").startswith(b"HTTP/1.1 404 ")


@pytest.mark.parametrize("what", ["floor", "fsspec", "obstore", "list-obstore"])
def test_each_client_reads_all_of_it(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    with _server(3 * CONNECTIONS) as port:
        main(what, port, 3 * CONNECTIONS)
    figures = json.loads(capsys.readouterr().out)
    assert figures["result"] == (1 if what.startswith("list") else 3 * CONNECTIONS * SIZE)
    assert figures["seconds"] > 0


def test_ratios_are_taken_within_a_round() -> None:
    slow, fast = [10.0, 20.0, 12.0], [1.0, 4.0, 4.0]
    costs = {name: [cost(seconds=s, cpu=1, result=0) for s in slow] for name in READING}
    last = list(READING)[-1]
    costs[last] = [cost(seconds=s, cpu=1, result=0) for s in fast]
    row = reading(costs).splitlines()[-1]
    assert row.startswith(f"| {last} ")
    assert "1.00 / 4.00 / 4.00" in row
    assert "3.0 / 5.0 / 10.0" in row


def test_what_more_keys_cost_is_shown() -> None:
    costs = {"with some": [cost(seconds=1, cpu=1, result=1), cost(43_000_000, seconds=9, cpu=1, result=2)]}
    row = listing(costs).splitlines()[-1]
    assert re.sub(r"\s+", " ", row) == f"| with some | 9.00 | 2 of {KEYS[1] // 1000} | 40 | 43 | +3 |"


def test_a_client_that_failed_is_no_figure() -> None:
    failed = Cost(cpu=1, wall=1, peak=1, status=1, said="OSError", crashed=True)
    with pytest.raises(RuntimeError, match="ended with 1: OSError"):
        listing({"with some": [failed, failed]})
