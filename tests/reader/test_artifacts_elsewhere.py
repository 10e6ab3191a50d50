"""Artifacts outside of the store: looked at only by schemes that the caller names, and by way of no second place."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from journals import Journal, at

import safepoint
from safepoint.core.digest import digest_bytes
from safepoint.store import OutsideStoreError, Store, StoreError, UnsupportedError, elsewhere, open_store
from safepoint.store.elsewhere import Elsewhere, parse_schemes

PLAN = {"artifactId": "plan", "digest": digest_bytes(b"plan"), "size": 4, "mediaType": None}
DEAD = {"leaseEpoch": 1, "holder": "worker-1", "state": "dead", "proof": "killed"}
FACTS = {
    "recordType": "facts",
    "schemaVersion": "v3",
    "runId": "run-1",
    "observedAt": at(600),
    "owners": [DEAD],
}


class Server(BaseHTTPRequestHandler):
    """Holds the plan at every address but those that say something else."""

    def do_GET(self) -> None:
        self.server.asked.append((self.path, dict(self.headers)))  # type: ignore[attr-defined]
        port = self.server.server_address[1]
        moved = {
            "/hop": "/plan",
            "/away": f"http://localhost:{port}/plan",
            "/file": "file:///etc/hostname",
            "/worse": f"https://127.0.0.1:{port}/plan",
        }
        path = self.path.partition("?")[0]
        found = moved.get(path)
        self.send_response(302 if found else {"/gone": 404, "/closed": 403}.get(path, 200))
        if found:
            self.send_header("Location", found)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"plan")

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@pytest.fixture
def web() -> Iterator[ThreadingHTTPServer]:
    pytest.importorskip("aiohttp", reason="fsspec reads web servers with it")
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        server.asked = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def bucket() -> Iterator[Store]:
    from fsspec.implementations.memory import MemoryFileSystem

    MemoryFileSystem.store.clear()
    store = open_store("memory://bucket")
    store.put_if_absent("plans/plan", b"plan")
    yield store
    MemoryFileSystem.store.clear()


def lay(folder: Path, uri: str, **members: Any) -> str:
    Journal().begin().checkpoint(2, artifactRefs=[{**PLAN, "uri": uri, **members}]).write(folder)
    return str(folder)


def found(store: str, *schemes: str, **more: Any) -> tuple[list[str], set[str]]:
    """The codes of artifacts that are reported, and those that are listed as skipped."""
    check = safepoint.validate(store, artifacts=True, allow_artifact_schemes=schemes, **more)
    codes = [f.code for f in check if f.code in {"SP002", "SP006", "SP515", "SP516", "SP517"}]
    return codes, {rule["code"] for rule in check.summary()["skipped"]}


def verdict(store: str, *schemes: str) -> tuple[str, list[str]]:
    decision = safepoint.guard(store, "run-1", facts=FACTS, now=at(600), allow_artifact_schemes=schemes)
    return decision.verdict, [reason.code for reason in decision.reasons]


@pytest.mark.usefixtures("bucket")
def test_nothing_elsewhere_is_looked_at_unless_its_scheme_is_named(tmp_path: Path) -> None:
    store = lay(tmp_path, "memory://bucket/plans/plan")
    assert found(store) == found(store, "s3") == ([], {"SP515", "SP516", "SP517"})
    assert verdict(store) == ("reconcile", ["SP793"])
    assert found(store, "memory") == ([], set())
    assert verdict(store, "memory") == ("resume", ["SP799"])


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize(
    ("uri", "members", "codes", "expected"),
    [
        ("memory://bucket/plans/none", {}, ["SP515"], ("hand_over", ["SP786"])),
        ("memory://bucket/plans/plan", {"size": 5}, ["SP516"], ("hand_over", ["SP787"])),
        ("memory://bucket/plans/plan", {"size": 3}, ["SP516"], ("hand_over", ["SP787"])),
        (
            "memory://bucket/plans/plan",
            {"digest": digest_bytes(b"plam")},
            ["SP517"],
            ("hand_over", ["SP787"]),
        ),
    ],
)
def test_what_lies_elsewhere_is_judged_like_what_lies_here(
    tmp_path: Path, uri: str, members: dict[str, Any], codes: list[str], expected: tuple[str, list[str]]
) -> None:
    store = lay(tmp_path, uri, **members)
    assert found(store, "memory") == (codes, set())
    assert verdict(store, "memory") == expected


@pytest.mark.usefixtures("bucket")
def test_a_second_kind_of_storage_behind_an_allowed_one_is_not_reached(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    canary.write_bytes(b"plan")
    store = lay(tmp_path / "store", f"memory://bucket/plan::file://{canary}")
    assert found(store, "memory") == ([], {"SP515", "SP516", "SP517"})
    assert verdict(store, "memory") == ("reconcile", ["SP793"])


@pytest.mark.parametrize("uri", ["file:///etc/hostname", "local:///etc/hostname", "../../../x", "%2e%2e/x"])
def test_a_file_of_this_machine_is_refused_whatever_is_allowed(tmp_path: Path, uri: str) -> None:
    store = lay(tmp_path, uri)
    assert found(store, "s3", "memory")[0] == ["SP006"]
    assert verdict(store, "s3", "memory")[0] == "hand_over"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["file"], "SP006"),
        (["local"], "SP006"),
        (["FILE://"], "SP006"),
        (["htps"], "no storage of this kind"),
        (["s3://bucket"], "expected the scheme of a URL"),
        ([""], "expected the scheme of a URL"),
        ("s3", "expected a list"),
    ],
)
def test_only_schemes_that_can_be_read_from_are_taken(names: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        safepoint.validate("x", allow_artifact_schemes=names)
    with pytest.raises(ValueError, match=message):
        safepoint.guard("x", "r", allow_artifact_schemes=names)


def test_schemes_are_known_in_any_letters() -> None:
    assert parse_schemes(["S3", "https://", "s3"]) == {"s3", "https"}


def url(web: ThreadingHTTPServer, path: str) -> str:
    return f"http://127.0.0.1:{web.server_address[1]}/{path}"


@pytest.mark.parametrize(
    ("path", "codes", "expected"),
    [
        ("plan", [], "resume"),
        ("plan?signature=SECRET", [], "resume"),
        ("hop", [], "resume"),
        ("away", ["SP002"], "reconcile"),
        ("worse", ["SP002"], "reconcile"),
        ("file", ["SP002"], "reconcile"),
        ("closed", ["SP002"], "reconcile"),
        ("gone", ["SP515"], "hand_over"),
    ],
)
def test_a_web_server_is_followed_to_no_other_place(
    tmp_path: Path, web: ThreadingHTTPServer, path: str, codes: list[str], expected: str
) -> None:
    store = lay(tmp_path, url(web, path))
    assert found(store, "http") == (codes, set())
    assert verdict(store, "http")[0] == expected
    assert found(store, "https")[1] == {"SP515", "SP516", "SP517"}
    hosts = {headers["Host"] for _, headers in web.asked}  # type: ignore[attr-defined]
    assert hosts == {f"127.0.0.1:{web.server_address[1]}"}


def test_a_signature_is_in_no_message(tmp_path: Path, web: ThreadingHTTPServer) -> None:
    wrong = digest_bytes(b"plam")
    for path, digest, code in (
        ("closed", wrong, "SP002"),
        ("gone", wrong, "SP515"),
        ("plan", wrong, "SP517"),
    ):
        store = lay(tmp_path / path, url(web, f"{path}?signature=SECRET"), digest=digest)
        check = list(safepoint.validate(store, artifacts=True, allow_artifact_schemes=["http"]))
        assert code in {finding.code for finding in check}
        assert "SECRET" not in repr(check)
        with pytest.raises(StoreError) as caught:
            safepoint.read_artifact(store, "run-1", "plan", allow_artifact_schemes=["http"])
        assert "SECRET" not in f"{caught.value}{caught.value.url}"
    assert all(path.endswith("?signature=SECRET") for path, _ in web.asked)  # type: ignore[attr-defined]


def test_headers_go_to_no_host_that_only_a_record_names(tmp_path: Path, web: ThreadingHTTPServer) -> None:
    store = lay(tmp_path, url(web, "plan"))
    secret = {"client_kwargs": {"headers": {"Authorization": "SECRET"}}}
    assert found(store, "http", storage_options=secret) == ([], set())
    sent = [headers.get("Authorization") for _, headers in web.asked]  # type: ignore[attr-defined]
    assert sent
    assert set(sent) == {None}
    assert found(store, "http", storage_options={"http": secret}) == ([], set())
    assert web.asked[-1][1]["Authorization"] == "SECRET"  # type: ignore[attr-defined]


def test_options_of_other_storage_are_kept_from_the_stores_own(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[tuple[str, dict[str, Any]]] = []

    def remember(url: str, **options: Any) -> Store:
        opened.append((url, options))
        return open_store("memory://x")

    monkeypatch.setattr(elsewhere, "open_store", remember)
    options = {"anon": True, "assume_one_writer": True, "gs": {"token": "t"}, "client_kwargs": {"verify": 1}}
    other = Elsewhere(["s3", "gs"], options)
    assert other.own_options == {key: options[key] for key in ("anon", "assume_one_writer", "client_kwargs")}
    from safepoint.core.uri import address_of

    class Own:
        url = "s3://records/store"

    for uri in ("s3://plans/x", "gs://plans/x", "s3://plans/y"):
        address = address_of(uri, other.schemes)
        assert address is not None
        other.store_of(address, Own())  # type: ignore[arg-type]
    assert opened == [
        ("s3://plans", {"anon": True, "client_kwargs": {"verify": 1}}),
        ("gs://plans", {"token": "t"}),
    ]


@pytest.mark.usefixtures("bucket")
def test_bytes_from_elsewhere_are_read_where_that_is_allowed(tmp_path: Path) -> None:
    store = lay(tmp_path, "memory://bucket/plans/plan")
    with pytest.raises(OutsideStoreError, match="does not lie in the store"):
        safepoint.read_artifact(store, "run-1", "plan")
    assert safepoint.read_artifact(store, "run-1", "plan", allow_artifact_schemes=["memory"]) == b"plan"


def test_storage_that_cannot_be_opened_is_unknown_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(url: str, **_: Any) -> Store:
        raise UnsupportedError(url, "this kind of storage needs another package")

    monkeypatch.setattr(elsewhere, "open_store", refuse)
    store = lay(tmp_path, "s3://bucket/plan")
    assert found(store, "s3") == (["SP002"], set())
    assert verdict(store, "s3") == ("reconcile", ["SP793"])
    with pytest.raises(StoreError, match="another package"):
        safepoint.read_artifact(store, "run-1", "plan", allow_artifact_schemes=["s3"])
