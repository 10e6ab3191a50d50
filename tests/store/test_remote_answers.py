"""What a remote store makes of answers that come late, twice, cut or not at all; the backend here is a script."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any, Literal

import pytest

from safepoint.store import (
    AbsentError,
    DeniedError,
    Entry,
    Outcome,
    StoreError,
    UnreachableError,
    open_store,
    remote,
)
from safepoint.store.capabilities import S3
from safepoint.store.client import Client, Connection, Item
from safepoint.store.connecting import _of_protocol
from safepoint.store.errors import NoBucketError
from safepoint.store.gcs import GcsClient
from safepoint.store.remote import RemoteStore

KEY = "runs/r/journal/0000000001.json"
MINE, THEIRS = b'{"mine":1}', b'{"theirs":1}'


class Scripted(Client):
    """A backend that does as it is told: a write takes the next step, and reads fail as long as `reading` says so."""

    driver = "script"
    parallel = 4
    flat = True

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.steps: list[Callable[[str, bytes], bool]] = []
        self.reading: StoreError | None = None
        self.asked = 0
        self.pending: list[Future[bytes]] = []
        self.pages: list[Item | StoreError] = []

    def fetch(self, path: str, limit: int | None = None) -> Future[bytes]:
        self.asked += 1
        done: Future[bytes] = Future()
        self.pending.append(done)
        if self.reading is not None:
            done.set_exception(self.reading)
        elif path in self.objects:
            done.set_result(self.objects[path][: None if limit is None else limit + 1])
        else:
            done.set_exception(AbsentError("script://", "nothing is there"))
        return done

    def kind(self, path: str) -> Literal["file", "folder"] | None:
        return "file" if path in self.objects else None

    def children(self, path: str) -> Iterator[Item]:
        for page in list(self.pages):
            if isinstance(page, StoreError):
                self.pages.remove(page)
                raise page
            yield page

    below = children

    def create(self, path: str, data: bytes) -> bool:
        return self.steps.pop(0)(path, data)

    def explain(self, error: Exception) -> tuple[type[StoreError], str, str]:
        return UnreachableError, type(error).__name__, ""


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_PAUSES", (0.0, 0.0))


@pytest.fixture
def client() -> Scripted:
    return Scripted()


@pytest.fixture
def store(client: Scripted) -> RemoteStore:
    return RemoteStore(Connection(lambda: (client, "b/s")), "b/s", "script://b/s", S3)


def arrives(client: Scripted, error: Exception | None = None) -> Callable[[str, bytes], bool]:
    """The write is done; its answer may get lost."""

    def step(path: str, data: bytes) -> bool:
        client.objects[path] = data
        if error is not None:
            raise error
        return True

    return step


def fails(error: Exception) -> Callable[[str, bytes], bool]:
    def step(path: str, data: bytes) -> bool:
        raise error

    return step


def taken(path: str, data: bytes) -> bool:
    return False


LOST = ConnectionResetError()
DENIED = DeniedError("script://", "access denied")


def test_a_lost_answer_to_our_own_write_is_won(store: RemoteStore, client: Scripted) -> None:
    client.steps = [arrives(client, LOST)]
    assert store.put_if_absent(KEY, MINE) is Outcome.WON


def test_what_never_arrived_is_tried_again(store: RemoteStore, client: Scripted) -> None:
    client.steps = [fails(LOST), arrives(client)]
    assert store.put_if_absent(KEY, MINE) is Outcome.WON


@pytest.mark.parametrize("then", [DENIED, LOST])
def test_once_a_try_was_unclear_nobody_says_that_nothing_was_written(
    store: RemoteStore, client: Scripted, then: Exception
) -> None:
    # the first arrives, and from then on neither writing nor looking is answered: a token that ran out, say
    client.reading = DENIED if then is DENIED else UnreachableError("script://", "no answer")
    client.steps = [arrives(client, LOST), fails(then), fails(then)]
    assert store.put_if_absent(KEY, MINE) is Outcome.UNKNOWN
    client.reading, client.steps = None, [taken]
    assert store.put_if_absent(KEY, MINE) is Outcome.WON


def test_a_clear_refusal_is_an_error(store: RemoteStore, client: Scripted) -> None:
    client.steps = [fails(DENIED)]
    with pytest.raises(DeniedError):
        store.put_if_absent(KEY, MINE)
    assert not client.objects


def test_a_name_that_is_taken_by_something_unreadable_is_not_won(
    store: RemoteStore, client: Scripted
) -> None:
    client.reading, client.steps = DENIED, [taken]
    with pytest.raises(DeniedError):
        store.put_if_absent(KEY, MINE)


def test_anothers_bytes_are_lost_also_where_they_begin_with_ours(
    store: RemoteStore, client: Scripted
) -> None:
    for there in (THEIRS, MINE + b"\n", MINE[:-1]):
        client.objects[f"b/s/{KEY}"] = there
        client.steps = [taken]
        assert store.put_if_absent(KEY, MINE) is Outcome.LOST
        assert client.objects[f"b/s/{KEY}"] == there


def test_an_outage_is_waited_for_once_and_not_for_each_object(store: RemoteStore, client: Scripted) -> None:
    client.reading = UnreachableError("script://", "no answer")
    found = list(store.get_many(Entry(f"{number}.json", 1) for number in range(20)))
    assert [type(one) for one in found] == [UnreachableError] * 20
    assert client.asked == 20 + 3  # each once, and the first with patience


def test_what_nobody_wants_any_more_is_taken_back(store: RemoteStore, client: Scripted) -> None:
    class Waiting(Scripted):
        def fetch(self, path: str, limit: int | None = None) -> Future[bytes]:
            self.pending.append(Future())
            return self.pending[-1]

    slow = Waiting()
    many = RemoteStore(Connection(lambda: (slow, "b/s")), "b/s", "script://b/s", S3).get_many(
        Entry(f"{number}.json", 1) for number in range(20)
    )
    slow.parallel = 1
    first: Any = Future()
    first.set_result(b"x")
    slow.fetch = lambda path, limit=None: first if path.endswith("/0.json") else Waiting.fetch(slow, path)  # type: ignore[method-assign] - one answer, then none
    assert next(many) == b"x"
    many.close()
    assert slow.pending
    assert all(future.cancelled() for future in slow.pending)


def test_a_listing_that_breaks_off_is_never_taken_for_whole(store: RemoteStore, client: Scripted) -> None:
    for error in (AbsentError("script://", "gone"), UnreachableError("script://", "no answer")):
        for ask in (lambda: list(store.list("runs")), lambda: list(store.folders("runs"))):
            client.pages = [Item(f"b/s/{KEY}", 1), *[error] * 5]
            with pytest.raises(UnreachableError):
                ask()


def test_a_listing_that_broke_off_is_taken_up_where_it_was(store: RemoteStore, client: Scripted) -> None:
    items = [Item(f"b/s/runs/r/journal/{number:010}.json", 1) for number in range(1, 6)]
    lost = UnreachableError("script://", "no answer")
    client.pages = [*items[:2], lost, *items[2:4], lost, items[4]]
    assert [entry.key for entry in store.list("runs")] == [item.path.removeprefix("b/s/") for item in items]


def test_where_the_last_name_that_came_is_gone_the_listing_has_failed(
    store: RemoteStore, client: Scripted
) -> None:
    client.pages = [Item("b/s/a.json", 1), Item("b/s/b.json", 1), UnreachableError("script://", "no answer")]
    listing = store.list()
    assert [next(listing).key, next(listing).key] == ["a.json", "b.json"]
    del client.pages[1]
    with pytest.raises(UnreachableError, match="broke off"):
        next(listing)


def test_a_missing_bucket_is_no_empty_folder(store: RemoteStore, client: Scripted) -> None:
    for ask in (lambda: list(store.list("runs")), lambda: list(store.folders("runs"))):
        client.pages = [NoBucketError("script://", "there is no such bucket")]
        with pytest.raises(NoBucketError):
            ask()


def test_a_missing_file_of_this_machine_is_no_absent_object() -> None:
    kind, problem, remedy = GcsClient(None).explain(FileNotFoundError(2, "No such file", "/var/run/token"))
    assert kind is UnreachableError
    assert "credentials" in remedy
    assert "token" not in problem + remedy


def test_options_under_any_name_of_a_storage_are_its_own() -> None:
    options = {
        "anon": True,
        "s3": {"key": "k"},
        "gs": {"token": "anon"},
        "sftp": {"host": "h"},
        "headers": {"a": "b"},
    }
    assert _of_protocol("s3a", options) == {"anon": True, "key": "k", "headers": {"a": "b"}}
    assert _of_protocol("gcs", options) == {"anon": True, "token": "anon", "headers": {"a": "b"}}
    assert _of_protocol("https", options) == {"anon": True, "headers": {"a": "b"}}


def test_the_web_may_not_be_silent_for_ever() -> None:
    store: Any = open_store("https://host.invalid/store")
    timeout = store._client._fs.client_kwargs["timeout"]
    assert (timeout.sock_connect, timeout.sock_read) == (10, 30)
