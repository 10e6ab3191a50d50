"""The fast driver, where it is unlike the others: what goes over the wire, and what its errors are taken for.

What all drivers have in common is tested once for all of them, on real servers.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scripted import Answer, Request, Scripted, scripted
from unconfigured import forget

from safepoint.store import obstore_gcs, obstore_s3, obstores
from safepoint.store.client import Item
from safepoint.store.errors import (
    AbsentError,
    ConflictError,
    DeniedError,
    NoBucketError,
    StoreError,
    ThrottledError,
    UnreachableError,
    UnsupportedError,
)
from safepoint.store.obstore_options import Plan, fixed
from safepoint.store.obstores import ObstoreClient

pytest.importorskip("obstore", reason="it is one of two drivers")

SECRET = "secret-in-the-answer"
MARK = {"ETag": '"e"', "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT"}


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    return forget(monkeypatch, tmp_path)


@pytest.fixture
def server() -> Iterator[Scripted]:
    with scripted() as one:
        yield one


def s3(server: Scripted, **more: Any) -> ObstoreClient:
    options = {"endpoint_url": server.url, "key": "AKIDEXAMPLE", "secret": "wJalrEXAMPLE", **more}
    client = ObstoreClient.open("s3", "ckpt", options, strict=True)
    assert client is not None
    return client


def said(status: int, code: str) -> Answer:
    return Answer(status, f"<Error><Code>{code}</Code><Message>{SECRET}</Message></Error>".encode())


def listing(*found: tuple[str, int], folders: tuple[str, ...] = ()) -> Answer:
    objects = "".join(
        f"<Contents><Key>{key}</Key><Size>{size}</Size><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>"
        for key, size in found
    )
    common = "".join(f"<CommonPrefixes><Prefix>{name}/</Prefix></CommonPrefixes>" for name in folders)
    return Answer(body=f"<ListBucketResult>{objects}{common}</ListBucketResult>".encode())


def explained(client: ObstoreClient, action: Any) -> tuple[type[StoreError], str, str]:
    with pytest.raises(Exception) as caught:
        action()
    kind, problem, remedy = client.explain(caught.value)
    assert SECRET not in problem + remedy
    assert "127.0.0.1" not in problem + remedy
    return kind, problem, remedy


# What its errors are taken for


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (404, "NoSuchKey", AbsentError),
        (404, "NoSuchBucket", NoBucketError),
        (401, "Unauthorized", DeniedError),
        (403, "AccessDenied", DeniedError),
        (403, "SignatureDoesNotMatch", DeniedError),
        (409, "OperationAborted", ConflictError),
        (412, "PreconditionFailed", ConflictError),
        (429, "TooManyRequests", ThrottledError),
        (503, "SlowDown", ThrottledError),
        (503, "ServiceUnavailable", UnreachableError),
        (500, "InternalError", UnreachableError),
        (400, "AuthorizationHeaderMalformed", UnreachableError),
        (301, "PermanentRedirect", UnsupportedError),
    ],
)
def test_an_answer_means_the_same_whatever_was_asked(
    server: Scripted, status: int, code: str, kind: type[StoreError]
) -> None:
    server.answer = lambda _: said(status, code)
    client = s3(server)
    for action in (
        lambda: client.fetch("ckpt/a").result(),
        lambda: list(client.pieces("ckpt/a")),
        lambda: list(client.below("ckpt/a")),
        lambda: list(client.children("ckpt/a")),
        lambda: client.overwrite("ckpt/a", b"x"),
    ):
        assert explained(client, action)[0] is kind


def test_a_bucket_that_is_not_there_is_said_to_be_that(server: Scripted) -> None:
    server.answer = lambda _: said(404, "NoSuchBucket")
    client = s3(server)
    for action in (
        lambda: client.kind("ckpt/a"),
        lambda: client.kind("ckpt"),
        lambda: client.delete("ckpt/a"),
    ):
        assert explained(client, action) == (NoBucketError, "there is no such bucket", "check its name")


def test_nobody_listening_is_an_outage(server: Scripted) -> None:
    client = s3(server, endpoint_url="http://127.0.0.1:1")
    assert explained(client, lambda: client.fetch("ckpt/a").result())[0] is UnreachableError


def test_no_credentials_is_a_denial_and_nobody_to_ask_for_them_an_outage(server: Scripted) -> None:
    def plan(error: Exception) -> ObstoreClient:
        def ask() -> dict[str, Any]:
            raise error

        return ObstoreClient(dataclasses.replace(s3(server)._plan, credentials=ask))

    class EndpointConnectionError(Exception):
        pass

    client = plan(obstore_s3.NoCredentialsError(SECRET))
    assert explained(client, lambda: client.fetch("ckpt/a").result())[:2] == (
        DeniedError,
        "access denied (NoCredentialsError)",
    )
    client = plan(EndpointConnectionError(SECRET))
    assert explained(client, lambda: client.fetch("ckpt/a").result())[0] is UnreachableError


def test_a_listing_with_a_name_that_obstore_cannot_handle_ends_in_an_error(server: Scripted) -> None:
    server.answer = lambda request: said(404, "") if request.method == "HEAD" else listing(("runs/a//b", 1))
    client = s3(server)
    kind, _, remedy = explained(client, lambda: list(client.below("ckpt/runs")))
    assert kind is UnsupportedError
    assert "driver=fsspec" in remedy
    assert client.kind("ckpt/runs") == "folder"


# Claiming a name


@pytest.mark.parametrize(("status", "code"), [(412, "PreconditionFailed"), (304, "NotModified")])
def test_a_name_that_is_taken_is_no_error(server: Scripted, status: int, code: str) -> None:
    server.answer = lambda _: said(status, code)
    assert s3(server).create("ckpt/a", b"x") is False
    assert server.asked[-1].headers["if-none-match"] == "*"


def test_two_writers_at_the_same_moment_are_no_taken_name(server: Scripted) -> None:
    server.answer = lambda _: said(409, "ConditionalRequestConflict")
    client = s3(server)
    assert explained(client, lambda: client.create("ckpt/a", b"x"))[0] is ConflictError


def test_azures_word_for_a_taken_name_is_understood(server: Scripted) -> None:
    text = f"AccountName=acc;AccountKey=a2V5;BlobEndpoint={server.url}/acc"
    client = ObstoreClient.open("az", "ckpt", {"connection_string": text})
    assert client is not None
    server.answer = lambda _: said(409, "BlobAlreadyExists")
    assert client.create("ckpt/a", b"x") is False
    server.answer = lambda _: said(409, "BlobBeingRehydrated")
    assert explained(client, lambda: client.create("ckpt/a", b"x"))[0] is ConflictError
    assert server.asked[0].target == "/acc/ckpt/a"


def test_google_is_asked_to_make_the_first_generation_only(server: Scripted) -> None:
    plan = dataclasses.replace(
        obstore_gcs.plan("ckpt", {"token": "anon"}),
        config={"bucket": "ckpt", "base_url": server.url, "skip_signature": False},
        credentials=fixed(token="ya29"),
        client={"allow_http": True},
    )
    server.answer = lambda _: Answer(headers={**MARK, "x-goog-generation": "1"})
    client = ObstoreClient(plan)
    assert client.create("ckpt/runs/a.json", b"x") is True
    put = server.asked[-1]
    assert (put.method, put.body) == ("PUT", b"x")
    assert put.headers["x-goog-if-generation-match"] == "0"
    assert put.headers["authorization"] == "Bearer ya29"
    server.answer = lambda _: said(412, "PreconditionFailed")
    assert client.create("ckpt/runs/a.json", b"x") is False


# What goes over the wire


def test_obstore_heeds_nothing_in_the_environment_that_botocore_would_not(
    server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "AWS_REGION": "us-west-2",
        "AWS_SESSION_TOKEN": "another",
        "AWS_ENDPOINT": "http://127.0.0.1:1",
        "AWS_BUCKET": "another",
        "AWS_SKIP_SIGNATURE": "true",
        "AWS_REQUEST_PAYER": "true",
        "AWS_UNSIGNED_PAYLOAD": "true",
        "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "false",
        "AWS_DISABLE_BULK_DELETE": "false",
    }.items():
        monkeypatch.setenv(name, value)
    client = s3(server)
    server.answer = lambda _: Answer(headers=MARK)
    client.create("ckpt/runs/a.json", b"x")
    client.delete("ckpt/runs/a.json")
    put, delete = server.asked
    assert (put.target, delete.method) == ("/ckpt/runs/a.json", "DELETE")
    assert "AKIDEXAMPLE/" in put.headers["authorization"]
    assert "/us-east-1/s3/" in put.headers["authorization"]
    assert put.headers["x-amz-content-sha256"] != "UNSIGNED-PAYLOAD"
    assert not {"x-amz-security-token", "x-amz-request-payer"} & set(put.headers)


def test_requester_pays_and_nobody_are_heeded(server: Scripted) -> None:
    server.answer = lambda _: Answer(body=b"{}", headers=MARK)
    s3(server, requester_pays=True).fetch("ckpt/a").result()
    s3(server, anon=True).fetch("ckpt/a").result()
    paid, free = server.asked
    assert paid.headers["x-amz-request-payer"] == "requester"
    assert "authorization" not in free.headers


def test_a_whole_object_is_one_request(server: Scripted) -> None:
    server.answer = lambda _: Answer(body=b"12345", headers=MARK)
    client = s3(server)
    assert client.fetch("ckpt/a", limit=5).result() == b"12345"
    assert [request.method for request in server.asked] == ["GET"]
    assert len(client.fetch("ckpt/a", limit=4).result()) == 5


@pytest.mark.parametrize("status", [429, 500, 503])
def test_nothing_is_asked_twice(server: Scripted, status: int) -> None:
    server.answer = lambda _: said(status, "")
    client = s3(server)
    for action in (
        lambda: client.fetch("ckpt/a").result(),
        lambda: list(client.pieces("ckpt/a")),
        lambda: client.kind("ckpt/a"),
        lambda: list(client.below("ckpt/a")),
        lambda: list(client.children("ckpt/a")),
        lambda: client.create("ckpt/a", b"x"),
        lambda: client.create("ckpt/a", b"x" * 2**20),
        lambda: client.overwrite("ckpt/a", b"x"),
        lambda: client.delete("ckpt/a"),
    ):
        server.asked.clear()
        explained(client, action)
        assert len(server.asked) == 1


def test_a_large_write_has_time_by_its_size_and_keeps_its_connections(
    server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[float] = []

    def noted(plan: Plan, patience: dict[str, Any]) -> Any:
        made.append({**obstores._PATIENCE, **plan.client, **patience}["read_timeout"].total_seconds())
        return real(plan, patience)

    real = obstores._made
    monkeypatch.setattr(obstores, "_made", noted)
    server.answer = lambda _: Answer(headers=MARK)
    client = s3(server)
    for size in (1, 2**20 - 1, 2**20, 2**20, 9 * 2**20, 16 * 2**20):
        client.create("ckpt/a", b"x" * size)
    assert made == [15, 38, 158]
    client = s3(server, config_kwargs={"read_timeout": 100})
    client.create("ckpt/a", b"x" * 2**20)
    assert made[3:] == [100, 100]


def test_a_large_object_is_written_whole_and_in_one_request(server: Scripted) -> None:
    server.answer = lambda _: Answer(headers=MARK)
    large = b"x" * (12 << 20)
    assert s3(server).create("ckpt/a", large) is True
    assert [request.body for request in server.asked] == [large]
    assert server.asked[0].headers["if-none-match"] == "*"


def test_a_bucket_in_another_region_is_asked_there(server: Scripted) -> None:
    def moved(region: str) -> Plan:
        return dataclasses.replace(here, config={**here.config, "region": region}, moved=None)

    here = s3(server)._plan
    server.answer = lambda request: Answer(
        301 if request.method == "HEAD" else 200, headers={**MARK, "x-amz-bucket-region": "ap-south-1"}
    )
    client = ObstoreClient(dataclasses.replace(here, moved=moved))
    assert server.asked == []
    client.fetch("ckpt/a").result()
    client.fetch("ckpt/b").result()
    where, first, second = server.asked
    assert (where.method, where.target, "authorization" in where.headers) == ("HEAD", "/ckpt", False)
    assert all("/ap-south-1/s3/" in request.headers["authorization"] for request in (first, second))


def test_where_the_region_cannot_be_learnt_the_one_that_was_named_is_used(server: Scripted) -> None:
    server.answer = lambda _: Answer(404)
    assert obstore_s3.region_of(f"{server.url}/ckpt") == ""
    assert obstore_s3.region_of("http://127.0.0.1:1/ckpt") == ""


# What it cannot tell apart


def markers(request: Request) -> Answer:
    """``runs/`` stands for a folder; ``z`` is an object, and ``z/`` a folder; ``empty`` is an empty object."""
    if request.method == "HEAD":
        sizes = {"/ckpt/z": 3, "/ckpt/empty": 0}
        size = sizes.get(request.target)
        return Answer(404) if size is None else Answer(headers={**MARK, "Content-Length": str(size)})
    return listing(("runs/", 0), ("runs/a.json", 7), ("z", 3), ("z/", 0), ("empty", 0))


def test_what_stands_for_a_folder_is_no_object(server: Scripted) -> None:
    server.answer = markers
    assert list(s3(server).below("ckpt")) == [
        Item("ckpt/runs/a.json", 7),
        Item("ckpt/z", 3),
        Item("ckpt/empty", 0),
    ]


def test_azures_own_folders_are_no_objects(server: Scripted) -> None:
    server.answer = lambda request: (
        Answer(headers={**MARK, "Content-Length": "0", "x-amz-meta-hdi_isfolder": "true"})
        if request.method == "HEAD"
        else listing(("runs", 0))
    )
    client = s3(server)
    assert list(client.below("ckpt")) == []
    assert client.kind("ckpt/runs") == "folder"


# Where it is not used


def test_what_it_does_not_understand_is_left_to_fsspec_and_said_on_demand() -> None:
    assert ObstoreClient.open("s3", "ckpt", {"version_aware": True}) is None
    assert ObstoreClient.open("ftp", "ckpt", {}) is None
    with pytest.raises(
        UnsupportedError, match="the option 'version_aware'; leave the storage option 'driver' out"
    ):
        ObstoreClient.open("s3", "ckpt", {"version_aware": True}, strict=True)


def test_options_of_the_wrong_kind_are_left_to_fsspec() -> None:
    for options in (
        {"config_kwargs": {"s3": {"addressing_style": []}}},
        {"endpoint_url": "http://[::1"},
        {"key": 7},
    ):
        assert ObstoreClient.open("s3", "ckpt", {"secret": "s", **options}) is None


def test_what_obstore_refuses_is_left_to_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_COPY_IF_NOT_EXISTS", "nonsense")
    assert ObstoreClient.open("s3", "ckpt", {"anon": True, "endpoint_url": "http://127.0.0.1:1"}) is None


def test_without_obstore_fsspec_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    assert ObstoreClient.open("s3", "ckpt", {"anon": True}) is None
    with pytest.raises(UnsupportedError, match="obstore is not installed"):
        ObstoreClient.open("s3", "ckpt", {"anon": True}, strict=True)
