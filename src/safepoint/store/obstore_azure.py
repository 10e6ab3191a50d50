"""Azure Blob Storage for obstore: which account, and who asks, as adlfs would have it.

Decided here: that a signature of the account's key, a connection string with such a key, Entra ID and nobody at all are
spoken for. Shared access signatures are not: obstore deletes in batches, which such a signature need not allow.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from safepoint.store.obstore_options import (
    CACHING,
    Credentials,
    NotUnderstoodError,
    Plan,
    Table,
    endpoint_of,
    fixed,
    names,
    nobody,
)

_TABLE = Table(
    protocols=("abfs", "az", "abfss"),
    mapped=names(
        "account_name account_key connection_string credential sas_token client_id client_secret tenant_id anon "
        "account_host location_mode"
    ),
    neutral=CACHING | names("assume_container_exists request_session socket_timeout"),
    off=names("version_aware timeout connection_timeout read_timeout asynchronous loop"),
    prefix="AZURE_",
    foreign=names(
        "AZURE_STORAGE_TOKEN AZURE_ENCRYPTION_KEY AZURE_CREDENTIAL_TYPE AZURE_STORAGE_USE_EMULATOR"
    ),
)
_VARIABLES = names("account_name account_key connection_string sas_token client_id client_secret tenant_id")
"""Options that adlfs takes from ``AZURE_STORAGE_…`` where they were not given."""
_CONNECTION = names(
    "ACCOUNTNAME ACCOUNTKEY DEFAULTENDPOINTSPROTOCOL ENDPOINTSUFFIX BLOBENDPOINT BLOBSECONDARYENDPOINT QUEUEENDPOINT "
    "TABLEENDPOINT FILEENDPOINT"
)
"""Parts of a connection string; of them the last four are about other things than blobs."""
_HOST = "blob.core.windows.net"
_ACCOUNT_OF_HOST = re.compile(r"(?P<account>.+)\.(dfs|blob)\.core\.windows\.net")
_SCOPE = "https://storage.azure.com/.default"


def plan(bucket: str, options: Mapping[str, Any]) -> Plan:
    """How to reach the container `bucket`, or ``container@account.dfs.core.windows.net``, with the options of adlfs.

    Raises:
        NotUnderstoodError: adlfs could do something else with them.
    """
    container, at, host = bucket.partition("@")
    given = _TABLE.read({**_account_of(host), **options})
    if at and given.get("account_name") != _account_of(host).get("account_name", given.get("account_name")):
        raise NotUnderstoodError("two names of an account")
    if "." in container:
        raise NotUnderstoodError("an address that names no container")
    given = {name: os.environ.get(f"AZURE_STORAGE_{name.upper()}") for name in _VARIABLES} | {
        name: value for name, value in given.items() if value or name not in _VARIABLES
    }
    if given.get("location_mode") not in {None, "primary"}:
        raise NotUnderstoodError("the option 'location_mode'")
    who: Credentials | None
    if given["connection_string"]:
        account, endpoint, who = _of_string(given["connection_string"])
    else:
        account = given["account_name"]
        if not account:
            raise NotUnderstoodError("an account without a name")
        endpoint, who = _endpoint(account, given.get("account_host")), _identity(given)
    address = endpoint_of(endpoint)
    config = {
        "account_name": account,
        "container_name": container,
        "endpoint": endpoint.rstrip("/"),
        "skip_signature": who is None,
        "use_emulator": False,
        "use_fabric_endpoint": False,
    }
    client = {"allow_http": True} if address.scheme == "http" else {}
    return Plan("az", config, nobody if who is None else who, client)


def _account_of(host: str) -> dict[str, str]:
    found = _ACCOUNT_OF_HOST.match(host)
    return {"account_name": found["account"]} if found else {}


def _endpoint(account: str, host: str | None) -> str:
    if not host:
        return f"https://{account}.{_HOST}"
    # the name that requests are signed with is read from the host by Azure's client
    if urlsplit(f"https://{host}").netloc.partition(".blob.core.")[0] != account:
        raise NotUnderstoodError("the option 'account_host'")
    return f"https://{host}"


def _of_string(text: str) -> tuple[str, str, Credentials]:
    """Account, endpoint and key of a connection string; a key in it is all that is heeded, as by adlfs.

    https://learn.microsoft.com/azure/storage/common/storage-configure-connection-string
    """
    pairs = [part.partition("=") for part in str(text).rstrip(";").split(";")]
    parts = {name.upper(): value for name, mark, value in pairs if mark}
    if (
        len(parts) != len(pairs)
        or set(parts) - _CONNECTION
        or not {"ACCOUNTNAME", "ACCOUNTKEY"} <= set(parts)
    ):
        raise NotUnderstoodError("this kind of connection string")
    account = parts["ACCOUNTNAME"]
    suffix = parts.get("ENDPOINTSUFFIX", "core.windows.net")
    # the protocol counts only beside a suffix
    protocol = parts.get("DEFAULTENDPOINTSPROTOCOL", "https") if "ENDPOINTSUFFIX" in parts else "https"
    endpoint = parts.get("BLOBENDPOINT") or f"{protocol}://{account}.blob.{suffix}"
    return account, endpoint, fixed(access_key=parts["ACCOUNTKEY"])


def _identity(given: Mapping[str, Any]) -> Credentials | None:
    """In the order in which adlfs looks; None for nobody."""
    credential, key = given.get("credential"), given["account_key"]
    if credential is not None:
        if not isinstance(credential, str) or not credential:
            raise NotUnderstoodError("this kind of 'credential'")
        return fixed(access_key=credential)
    if key:
        return fixed(access_key=key)
    if given["sas_token"]:
        raise NotUnderstoodError("a shared access signature")
    if given["client_id"]:
        return _entra(given["tenant_id"], given["client_id"], given["client_secret"])
    anon = given.get("anon")
    if anon is None:
        anon = os.environ.get("AZURE_STORAGE_ANON", "false").lower() not in {"false", "0", "f", ""}
    return None if anon else _entra()


def _entra(*principal: str | None) -> Credentials:
    """Tokens of Entra ID: of a service principal, or of whoever Azure's own library finds."""
    try:
        from azure.identity import ClientSecretCredential, DefaultAzureCredential
    except ImportError:
        raise NotUnderstoodError("credentials that only azure-identity can find") from None
    if not all(principal):
        raise NotUnderstoodError("half a service principal")
    found = ClientSecretCredential(*map(str, principal)) if principal else DefaultAzureCredential()
    lock = Lock()

    def ask() -> Mapping[str, Any]:
        with lock:
            token = found.get_token(_SCOPE)
        return {"token": token.token, "expires_at": datetime.fromtimestamp(token.expires_on, UTC)}

    return ask
