"""What obstore is told of S3: exactly what s3fs would have understood, or nothing at all."""

from __future__ import annotations

import functools
import itertools
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from unconfigured import forget

from safepoint.store import obstore_s3
from safepoint.store.obstore_options import NotUnderstoodError, Plan

KEYS = {"key": "AKIDEXAMPLE", "secret": "wJalrEXAMPLE"}
WHO = {"access_key_id": "AKIDEXAMPLE", "secret_access_key": "wJalrEXAMPLE", "token": None, "expires_at": None}
MINIO = "http://127.0.0.1:9000"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    return forget(monkeypatch, tmp_path)


def s3(bucket: str = "ckpt", **options: Any) -> Plan:
    return obstore_s3.plan(bucket, options)


# S3


@pytest.mark.parametrize(
    ("options", "endpoint", "region"),
    [
        ({}, "https://ckpt.s3.amazonaws.com", "us-east-1"),
        (
            {"client_kwargs": {"region_name": "eu-west-1"}},
            "https://ckpt.s3.eu-west-1.amazonaws.com",
            "eu-west-1",
        ),
        ({"endpoint_url": MINIO}, f"{MINIO}/ckpt", "us-east-1"),
        ({"client_kwargs": {"endpoint_url": f"{MINIO}/"}}, f"{MINIO}/ckpt", "us-east-1"),
        ({"config_kwargs": {"region_name": "here"}, "endpoint_url": MINIO}, f"{MINIO}/ckpt", "here"),
        (
            {
                "endpoint_url": "https://s3.example.org",
                "config_kwargs": {"s3": {"addressing_style": "virtual"}},
            },
            "https://ckpt.s3.example.org",
            "us-east-1",
        ),
    ],
)
def test_s3_gets_the_address_and_the_region(options: dict[str, Any], endpoint: str, region: str) -> None:
    plan = s3(**KEYS, **options)
    assert (plan.config["endpoint"], plan.config["region"]) == (endpoint, region)
    assert plan.config["aws_endpoint_url_s3"] == endpoint
    assert plan.credentials() == WHO
    assert plan.client.get("allow_http", False) is endpoint.startswith("http:")


PLACES = list(
    itertools.product(
        (None, MINIO, "https://s3.example.org:9000/", "https://s3.example.org/base"),
        (None, "us-east-1", "eu-west-1", "us-gov-west-1", "cn-north-1", "aws-global"),
        (None, "auto", "path", "virtual"),
        ("ckpt", "ck.pt"),
    )
)


@functools.cache
def botocore() -> Any:
    """One for all: it keeps what it has read of its own data."""
    from botocore.session import Session

    return Session()


@pytest.mark.parametrize(("endpoint", "region", "style", "bucket"), PLACES)
def test_what_is_worked_out_at_once_is_what_botocore_would_do(
    endpoint: str | None, region: str | None, style: str | None, bucket: str
) -> None:
    pytest.importorskip("botocore", reason="botocore comes with s3fs")
    client = {"endpoint_url": endpoint, "region_name": region, "use_ssl": True}
    config = {"s3": {"addressing_style": style}} if style else {}
    at_once = obstore_s3._ordinary(bucket, client, config, "")
    if at_once is not None:
        assert at_once == obstore_s3._asked(botocore(), bucket, client, config, "")


def test_most_of_these_places_are_worked_out_at_once() -> None:
    found = [
        obstore_s3._ordinary(
            b, {"endpoint_url": e, "region_name": r, "use_ssl": True}, {"s3": {"addressing_style": s}}, ""
        )
        for e, r, s, b in PLACES
    ]
    assert sum(place is not None for place in found) > len(PLACES) * 0.7


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"s3_additional_kwargs": {"ServerSideEncryption": "AES256"}}, "the option 's3_additional_kwargs'"),
        ({"version_aware": True}, "the option 'version_aware'"),
        ({"session": object()}, "the option 'session'"),
        ({"invented": 1}, "the option 'invented'"),
        ({"client_kwargs": {"api_version": "2006-03-01"}}, "'api_version' in the option 'client_kwargs'"),
        (
            {"client_kwargs": {"verify": "/own/roots.pem"}, "endpoint_url": "https://s3.example.org"},
            "trusted",
        ),
        ({"config_kwargs": {"retries": {"max_attempts": 9}}}, "'retries' in the option 'config_kwargs'"),
        ({"config_kwargs": {"signature_version": "s3"}}, "'signature_version'"),
        ({"config_kwargs": {"connect_timeout": "long"}}, "the value of 'connect_timeout'"),
        ({"config_kwargs": "{}"}, "the option 'config_kwargs'"),
        ({"endpoint_url": "s3.example.org"}, "the address of the endpoint"),
        ({"endpoint_url": "http://user:pass@s3.example.org"}, "the address of the endpoint"),
        ({"endpoint_url": MINIO, "client_kwargs": {"endpoint_url": "http://127.0.0.1:1"}}, "two values"),
        ({"secret": None}, "one half of a pair of keys"),
        ({"username": "other"}, "both of 'key' and 'username'"),
        ({"profile": "nobody"}, "botocore refuses (ProfileNotFound)"),
    ],
)
def test_s3_leaves_to_fsspec_what_it_does_not_know(options: dict[str, Any], what: str) -> None:
    with pytest.raises(NotUnderstoodError) as why:
        s3(**{**KEYS, **options})
    assert what in str(why.value)


@pytest.mark.parametrize(
    "bucket", ["Ckpt", "ckpt--use1-az4--x-s3", "arn:aws:s3:eu:1:accesspoint", "x.mrap", ""]
)
def test_s3_leaves_unusual_buckets_to_fsspec(bucket: str) -> None:
    with pytest.raises(NotUnderstoodError):
        s3(bucket, **KEYS)


@pytest.mark.parametrize(
    ("variables", "what"),
    [
        ({"AWS_SERVER_SIDE_ENCRYPTION": "AES256"}, "AWS_SERVER_SIDE_ENCRYPTION"),
        ({"AWS_ALLOW_INVALID_CERTIFICATES": "true"}, "AWS_ALLOW_INVALID_CERTIFICATES"),
        ({"AWS_PROXY_URL": "http://proxy"}, "AWS_PROXY_URL"),
        ({"AWS_CA_BUNDLE": "/own/roots.pem"}, "a set of trusted certificates"),
        ({"HTTPS_PROXY": "http://proxy"}, "the proxy of the environment"),
    ],
)
def test_s3_leaves_an_environment_that_it_does_not_know_to_fsspec(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], what: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(NotUnderstoodError, match=what):
        s3(**KEYS)


def test_what_concerns_tls_and_proxies_does_not_concern_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_CA_BUNDLE", "/own/roots.pem")
    monkeypatch.setenv("http_proxy", "http://proxy")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert s3(**KEYS, endpoint_url=MINIO).client == {"allow_http": True}


def test_s3_asks_for_nobody_where_it_is_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    plan = s3(anon=True, **KEYS)
    assert plan.config["skip_signature"] is True
    with pytest.raises(PermissionError):
        plan.credentials()


def test_keys_of_the_environment_come_with_their_token_and_given_keys_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDENV")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "session")
    assert s3().credentials()["token"] == "session"
    assert s3(**KEYS).credentials() == WHO


def test_the_region_and_the_endpoint_of_the_environment_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_REGION", "us-west-2")  # botocore does not read this one
    monkeypatch.setenv("AWS_ENDPOINT_URL", MINIO)
    plan = s3(**KEYS)
    assert (plan.config["endpoint"], plan.config["region"]) == (f"{MINIO}/ckpt", "eu-central-1")


def test_configured_options_of_fsspec_count_and_given_ones_win(monkeypatch: pytest.MonkeyPatch) -> None:
    conf = {
        "s3": {"endpoint_url": MINIO, "key": "configured", "secret": "configured"},
        "s3a": {"anon": False},
    }
    monkeypatch.setattr("fsspec.config.conf", conf)
    assert s3(**KEYS).credentials() == WHO
    assert s3().credentials()["access_key_id"] == "configured"
    assert s3().config["endpoint"] == f"{MINIO}/ckpt"


def test_a_profile_is_read_by_botocore(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("botocore", reason="botocore comes with s3fs")
    (alone / ".aws").mkdir()
    (alone / ".aws/config").write_text(
        f"[profile lab]\nregion = eu-north-1\nendpoint_url = {MINIO}\naws_access_key_id = AKIDLAB\n"
        "aws_secret_access_key = lab\n[profile fips]\nregion = us-east-2\nuse_fips_endpoint = true\n"
    )
    lab = s3(profile="lab")
    assert (lab.config["endpoint"], lab.config["region"]) == (f"{MINIO}/ckpt", "eu-north-1")
    found = lab.credentials()
    assert (found["access_key_id"], found["secret_access_key"]) == ("AKIDLAB", "lab")
    assert found["expires_at"] - datetime.now(UTC) < timedelta(minutes=11)
    monkeypatch.setenv("AWS_PROFILE", "fips")
    assert s3(**KEYS).config["endpoint"] == "https://ckpt.s3-fips.us-east-2.amazonaws.com"


def test_where_botocore_is_needed_and_absent_it_is_left_to_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "botocore.session", None)
    assert s3(**KEYS).credentials() == WHO
    with pytest.raises(NotUnderstoodError, match="only botocore can find"):
        s3()


def test_nobody_found_by_botocore_is_an_error_of_the_one_who_asks() -> None:
    pytest.importorskip("botocore", reason="botocore comes with s3fs")
    with pytest.raises(obstore_s3.NoCredentialsError):
        s3().credentials()


def test_a_bucket_elsewhere_gets_the_address_of_its_own_region() -> None:
    plan = s3(**KEYS)
    assert plan.moved is not None
    assert plan.moved("ap-south-1").config["endpoint"] == "https://ckpt.s3.ap-south-1.amazonaws.com"
    assert s3(**KEYS, endpoint_url=MINIO).moved is None


def test_no_secret_is_in_what_a_plan_shows() -> None:
    assert "wJalr" not in repr(s3(**KEYS))
