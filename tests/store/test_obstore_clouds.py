"""What obstore is told of Google and Azure: exactly what gcsfs and adlfs would have understood, or nothing at all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from unconfigured import forget

from safepoint.store import obstore_azure, obstore_gcs
from safepoint.store.obstore_options import NotUnderstoodError, Plan


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    return forget(monkeypatch, tmp_path)


# Google


class Token:
    """A credential of google-auth, as far as it is used."""

    def __init__(self, expiry: datetime | None) -> None:
        self.token, self.expiry, self.valid = "first", expiry, True

    def refresh(self, request: object) -> None:
        self.token = "second"


def gs(**options: Any) -> Plan:
    return obstore_gcs.plan("ckpt", options)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"endpoint_url": "http://127.0.0.1:4443"}, "an endpoint that is not Google's own"),
        ({"requester_pays": True}, "the option 'requester_pays'"),
        ({"consistency": "md5"}, "the option 'consistency'"),
        ({"token": "browser"}, "this kind of 'token'"),
        ({"token": "cache"}, "this kind of 'token'"),
        ({"token": "ya29.a-bare-token"}, "this kind of 'token'"),
        ({"token": {"type": "service_account", "private_key": "no"}}, "google-auth refuses"),
        ({"access": "all"}, "the value of 'access'"),
    ],
)
def test_gcs_leaves_to_fsspec_what_it_does_not_know(options: dict[str, Any], what: str) -> None:
    pytest.importorskip("google.auth", reason="google-auth comes with gcsfs")
    with pytest.raises(NotUnderstoodError) as why:
        gs(**options)
    assert what in str(why.value)


@pytest.mark.parametrize(
    "variable",
    ["STORAGE_EMULATOR_HOST", "GOOGLE_SERVICE_ACCOUNT", "GOOGLE_API_USE_CLIENT_CERTIFICATE", "HTTPS_PROXY"],
)
def test_gcs_leaves_an_environment_that_it_does_not_know_to_fsspec(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "http://127.0.0.1:1")
    with pytest.raises(NotUnderstoodError):
        gs(token="anon")


def test_gcs_asks_for_nobody_where_it_is_told_to() -> None:
    assert gs(token="anon").config["skip_signature"] is True


def test_googles_default_credentials_are_asked_for_with_gcsfs_scope(monkeypatch: pytest.MonkeyPatch) -> None:
    google_auth = pytest.importorskip("google.auth", reason="google-auth comes with gcsfs")
    asked: list[list[str]] = []

    def default(scopes: list[str]) -> tuple[Token, str]:
        asked.append(scopes)
        return Token(None), "its-project"

    monkeypatch.setattr(google_auth, "default", default)
    assert gs(access="read_only").credentials() == {"token": "first", "expires_at": None}
    assert asked == [["https://www.googleapis.com/auth/devstorage.read_only"]]
    with pytest.raises(NotUnderstoodError, match="a project that is not the default one"):
        gs(project="another")


def test_a_token_that_ends_soon_is_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    google_auth = pytest.importorskip("google.auth", reason="google-auth comes with gcsfs")
    soon = (datetime.now(UTC) + timedelta(seconds=100)).replace(tzinfo=None)
    monkeypatch.setattr(google_auth, "default", lambda scopes: (Token(soon), None))
    found = gs().credentials()
    assert (found["token"], found["expires_at"]) == ("second", soon.replace(tzinfo=UTC))


def test_a_user_permission_in_a_file_is_read(tmp_path: Path) -> None:
    pytest.importorskip("google.auth", reason="google-auth comes with gcsfs")
    file = tmp_path / "user.json"
    file.write_text(
        '{"type": "authorized_user", "refresh_token": "r", "client_secret": "s", "client_id": "c"}'
    )
    assert gs(token=str(file)).config["skip_signature"] is False


# Azure


def az(bucket: str = "ckpt", **options: Any) -> Plan:
    return obstore_azure.plan(bucket, options)


STRINGS = [
    "AccountName=acc;AccountKey=a2V5",
    "DefaultEndpointsProtocol=https;AccountName=acc;AccountKey=a2V5;EndpointSuffix=core.chinacloudapi.cn",
    "DefaultEndpointsProtocol=http;AccountName=acc;AccountKey=a2V5",
    "DefaultEndpointsProtocol=http;AccountName=acc;AccountKey=a2V5;EndpointSuffix=core.windows.net;",
    "AccountName=acc;AccountKey=a2V5;BlobEndpoint=http://127.0.0.1:10000/acc;QueueEndpoint=http://127.0.0.1:10001/acc",
    "AccountKey=a2V5PT0=;AccountName=acc",
]


@pytest.mark.parametrize("text", STRINGS)
def test_a_connection_string_means_what_azures_library_reads_in_it(text: str) -> None:
    shared = pytest.importorskip("azure.storage.blob._shared.base_client", reason="it comes with adlfs")
    endpoint, _, credential = shared.parse_connection_str(text, None, "blob")
    plan = az(connection_string=text)
    assert plan.config["endpoint"] == endpoint
    assert plan.config["account_name"] == credential["account_name"]
    assert plan.credentials() == {"access_key": credential["account_key"], "expires_at": None}


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"connection_string": "UseDevelopmentStorage=true"}, "this kind of connection string"),
        (
            {"connection_string": "AccountName=acc;SharedAccessSignature=sig"},
            "this kind of connection string",
        ),
        ({"connection_string": "nonsense"}, "this kind of connection string"),
        ({"account_name": "acc", "sas_token": "sig=x"}, "a shared access signature"),
        ({"account_name": "acc", "credential": object()}, "this kind of 'credential'"),
        ({"account_name": "acc", "account_key": "k", "location_mode": "secondary"}, "'location_mode'"),
        ({"account_name": "acc", "account_key": "k", "account_host": "blob.example.org"}, "'account_host'"),
        ({"account_name": "acc", "account_key": "k", "version_aware": True}, "'version_aware'"),
        ({"account_key": "k"}, "an account without a name"),
    ],
)
def test_azure_leaves_to_fsspec_what_it_does_not_know(options: dict[str, Any], what: str) -> None:
    with pytest.raises(NotUnderstoodError) as why:
        az(**options)
    assert what in str(why.value)


def test_azure_signs_with_a_key_before_anything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_STORAGE_SAS_TOKEN", "sig=x")
    monkeypatch.setenv("AZURE_STORAGE_CLIENT_ID", "client")
    plan = az(account_name="acc", account_key="a2V5", anon=True)
    assert plan.config["endpoint"] == "https://acc.blob.core.windows.net"
    assert plan.credentials() == {"access_key": "a2V5", "expires_at": None}
    assert plan.config["skip_signature"] is False


def test_azure_takes_the_account_from_the_address_and_the_rest_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", "a2V5")
    plan = az("ckpt@acc.dfs.core.windows.net")
    assert (plan.config["account_name"], plan.config["container_name"]) == ("acc", "ckpt")
    assert plan.config["endpoint"] == "https://acc.blob.core.windows.net"
    with pytest.raises(NotUnderstoodError, match="two names of an account"):
        az("ckpt@acc.dfs.core.windows.net", account_name="other")
    with pytest.raises(NotUnderstoodError, match="names no container"):
        az("acc.dfs.core.windows.net", account_name="acc")


@pytest.mark.parametrize(("said", "anon"), [("true", True), ("1", True), ("false", False), ("F", False)])
def test_azure_asks_for_nobody_where_the_environment_says_so(
    monkeypatch: pytest.MonkeyPatch, said: str, anon: bool
) -> None:
    pytest.importorskip("azure.identity", reason="it comes with adlfs")
    monkeypatch.setenv("AZURE_STORAGE_ANON", said)
    assert az(account_name="acc").config["skip_signature"] is anon


def test_azure_asks_entra_for_a_service_principal(monkeypatch: pytest.MonkeyPatch) -> None:
    identity = pytest.importorskip("azure.identity", reason="it comes with adlfs")
    asked: list[Any] = []

    class Principal:
        def __init__(self, *who: str) -> None:
            asked.extend(who)

        def get_token(self, scope: str) -> SimpleNamespace:
            asked.append(scope)
            return SimpleNamespace(token="bearer", expires_on=2_000_000_000)

    monkeypatch.setattr(identity, "ClientSecretCredential", Principal)
    found = az(account_name="acc", tenant_id="t", client_id="c", client_secret="s").credentials()
    assert found == {"token": "bearer", "expires_at": datetime.fromtimestamp(2_000_000_000, UTC)}
    assert asked == ["t", "c", "s", "https://storage.azure.com/.default"]
    with pytest.raises(NotUnderstoodError, match="half a service principal"):
        az(account_name="acc", client_id="c")
