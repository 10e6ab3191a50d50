"""Google Cloud Storage for obstore: whose token is sent, as gcsfs would have it.

Decided here: that only Google's own endpoint is asked this way. obstore speaks the XML API, of which emulators know a
part at best: they would read, and refuse every write. Tokens come from google-auth, as gcsfs gets them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from safepoint.store.obstore_options import (
    CACHING,
    Credentials,
    NotUnderstoodError,
    Plan,
    Table,
    names,
    nobody,
    refuse_proxy,
)

_TABLE = Table(
    protocols=("gs", "gcs"),
    mapped=names("token access project endpoint_url consistency"),
    neutral=CACHING | names("secure_serialize default_location"),
    off=names(
        "requester_pays version_aware session_kwargs requests_timeout timeout asynchronous loop check_connection"
    ),
    prefix="GOOGLE_",
    foreign=names(
        "GOOGLE_SERVICE_ACCOUNT GOOGLE_SERVICE_ACCOUNT_PATH GOOGLE_SERVICE_ACCOUNT_KEY GOOGLE_BEARER_TOKEN "
        "GOOGLE_CLOUD_UNIVERSE_DOMAIN GOOGLE_API_CERTIFICATE_CONFIG"
    ),
)
_HOST = "storage.googleapis.com"
_GOOGLE = f"https://{_HOST}"
_ACCESS = names("read_only read_write full_control")
_MARGIN = 300
"""Seconds before a token ends in which gcsfs does not use it any more."""


def plan(bucket: str, options: Mapping[str, Any]) -> Plan:
    """How to reach `bucket` with the options of gcsfs.

    Raises:
        NotUnderstoodError: gcsfs could do something else with them.
    """
    given = _TABLE.read(options)
    emulator = os.environ.get("STORAGE_EMULATOR_HOST", "")
    endpoint = given.get("endpoint_url") or (emulator if emulator != "default" else "") or _GOOGLE
    if str(endpoint).rstrip("/") != _GOOGLE:
        raise NotUnderstoodError("an endpoint that is not Google's own")
    refuse_proxy(_HOST)
    if given.get("consistency") not in {None, "none"}:
        raise NotUnderstoodError("the option 'consistency'")
    access = given.get("access", "full_control")
    if access not in _ACCESS:
        raise NotUnderstoodError("the value of 'access'")
    token = given.get("token")
    _refuse_certificates()
    who = nobody if token == "anon" else _of_google(token, access, given.get("project"))  # noqa: S105 - no secret
    config = {"bucket": bucket, "base_url": _GOOGLE, "skip_signature": token == "anon"}  # noqa: S105 - as above
    return Plan("gs", config, who)


def _refuse_certificates() -> None:
    """Clients with certificates of their own have another endpoint, and obstore can present none."""
    if os.environ.get("GOOGLE_API_USE_CLIENT_CERTIFICATE", "false").lower() not in {"", "false"}:
        raise NotUnderstoodError("the variable GOOGLE_API_USE_CLIENT_CERTIFICATE")
    try:
        from google.auth.transport import mtls
    except ImportError:
        return
    wanted = getattr(mtls, "should_use_client_cert", None)
    if wanted is not None and wanted():
        raise NotUnderstoodError("a certificate of the client")


def _of_google(token: Any, access: str, project: str | None) -> Credentials:
    try:
        import google.auth.transport.requests
        from google.auth import compute_engine, credentials, default, exceptions
    except ImportError:
        raise NotUnderstoodError("credentials that only google-auth can find") from None
    scopes = [f"https://www.googleapis.com/auth/devstorage.{access}"]
    try:
        if token is None or token == "google_default":  # noqa: S105 - no secret
            found, its = default(scopes=scopes)
            project = project or os.environ.get("GCSFS_DEFAULT_PROJECT")
            if project and project != its:
                raise NotUnderstoodError("a project that is not the default one of the credentials")
        elif token == "cloud":  # noqa: S105 - no secret
            found = compute_engine.Credentials()  # type: ignore[no-untyped-call] # theirs
        elif isinstance(token, credentials.Credentials):
            found = token
        else:
            found = _of_account(token, scopes)
    except (exceptions.GoogleAuthError, OSError, ValueError, KeyError) as error:
        # gcsfs goes on looking elsewhere, or has its own words for it
        raise NotUnderstoodError(f"credentials that google-auth refuses ({type(error).__name__})") from None
    return _fresh(found, google.auth.transport.requests.Request())


def _of_account(token: Any, scopes: list[str]) -> Any:
    """A service account, or a user's permission that can be renewed: as a dictionary, or in a file."""
    from google.oauth2.credentials import Credentials as UserCredentials
    from google.oauth2.service_account import Credentials as ServiceCredentials

    if isinstance(token, str) and os.path.exists(token):
        with open(token, encoding="utf-8") as file:
            token = json.load(file)
    if not isinstance(token, Mapping):
        # a bare token is asked about at Google first; 'cache' and 'browser' are gcsfs's own
        raise NotUnderstoodError("this kind of 'token'")
    if token.get("type") == "service_account" or "private_key" in token:
        return ServiceCredentials.from_service_account_info(token, scopes=scopes)  # type: ignore[no-untyped-call] # theirs
    return UserCredentials(  # type: ignore[no-untyped-call] # theirs
        None,
        refresh_token=token["refresh_token"],
        client_secret=token["client_secret"],
        client_id=token["client_id"],
        token_uri="https://oauth2.googleapis.com/token",  # noqa: S106 - an address
    )


def _fresh(found: Any, request: Any) -> Credentials:
    lock = Lock()

    def ask() -> Mapping[str, Any]:
        with lock:
            until = _ends(found)
            if not found.valid or (until and (until - datetime.now(UTC)).total_seconds() <= _MARGIN):
                found.refresh(request)
            return {"token": found.token, "expires_at": _ends(found)}

    return ask


def _ends(found: Any) -> datetime | None:
    # google-auth means UTC, and does not say so
    return found.expiry.replace(tzinfo=UTC) if found.expiry else None
