"""S3 for obstore: who asks, where the bucket answers, and in which region, as s3fs and its botocore would have it.

Decided here: that the ordinary case (keys or nobody, an endpoint or AWS itself, no files of AWS's tools) is worked out
at once, and that for every other case botocore is asked for the address it would use. obstore is then given that
address as it is, whatever its style.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from threading import Lock
from typing import Any, NoReturn

from safepoint.store.obstore_options import (
    CACHING,
    Credentials,
    NotUnderstoodError,
    Plan,
    Table,
    dictionary,
    duration,
    endpoint_of,
    fixed,
    names,
    nobody,
)

_TABLE = Table(
    protocols=("s3", "s3a"),
    mapped=names(
        "anon endpoint_url key secret token username password use_ssl client_kwargs config_kwargs requester_pays "
        "profile"
    ),
    # a bucket's region is looked up here in any case
    neutral=CACHING | {"cache_regions", "fixed_upload_size", "local_expiry_check"},
    off=names("version_aware s3_additional_kwargs session asynchronous loop"),
    prefix="AWS_",
    foreign=names(
        "AWS_CHECKSUM_ALGORITHM AWS_SERVER_SIDE_ENCRYPTION AWS_SSE_KMS_KEY_ID AWS_SSE_BUCKET_KEY_ENABLED "
        "AWS_SSE_CUSTOMER_KEY_BASE64 AWS_SIGV4A_SIGNING_REGION_SET AWS_AUTH_SCHEME_PREFERENCE"
    ),
)
_CLIENT_KWARGS = names(
    "region_name endpoint_url aws_access_key_id aws_secret_access_key aws_session_token use_ssl verify"
)
_TIMEOUTS = names("connect_timeout read_timeout")
_CONFIG_NEUTRAL = names("max_pool_connections user_agent user_agent_extra tcp_keepalive")
_CONFIG_KWARGS = _TIMEOUTS | _CONFIG_NEUTRAL | {"region_name", "signature_version", "s3"}
_STYLES = names("auto path virtual")

_FILES = {"AWS_CONFIG_FILE": "~/.aws/config", "AWS_SHARED_CREDENTIALS_FILE": "~/.aws/credentials"}
_ASK = names(
    "AWS_PROFILE AWS_DEFAULT_PROFILE AWS_USE_FIPS_ENDPOINT AWS_USE_DUALSTACK_ENDPOINT AWS_DEFAULTS_MODE AWS_DATA_PATH "
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS AWS_S3_USE_ARN_REGION AWS_S3_US_EAST_1_REGIONAL_ENDPOINT "
    "AWS_S3_DISABLE_MULTIREGION_ACCESS_POINTS AWS_CREDENTIAL_EXPIRATION"
)
"""Variables that botocore had better be asked about."""
_TRUST = ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE")
"""They replace what botocore trusts; obstore could only be told to trust more."""

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_OTHER_KINDS = ("--x-s3", "--ol-s3", ".mrap")
"""Directory buckets and access points, which have addresses and signatures of their own."""
_PLAIN_REGION = re.compile(r"(?!cn-|us-iso|eu-iso|eusc-)[a-z]{2}(-[a-z]+)+-\d")
"""Regions whose addresses end in ``amazonaws.com``."""
_AWS = ".amazonaws.com"


class NoCredentialsError(Exception):
    """botocore found none anywhere."""


def plan(bucket: str, options: Mapping[str, Any], region: str = "") -> Plan:
    """How to reach `bucket` with the options of s3fs; `region` takes the place of what they say.

    Raises:
        NotUnderstoodError: s3fs could do something else with them.
    """
    given = _TABLE.read(options)
    if not _BUCKET.fullmatch(bucket) or bucket.endswith(_OTHER_KINDS):
        raise NotUnderstoodError("the kind of the bucket")
    client = dictionary("client_kwargs", given.get("client_kwargs"), _CLIENT_KWARGS)
    config = dictionary("config_kwargs", given.get("config_kwargs"), _CONFIG_KWARGS)
    if config.get("signature_version") not in {None, "s3v4"}:
        raise NotUnderstoodError("'signature_version' in the option 'config_kwargs'")
    said = {
        "aws_access_key_id": _either(given, "key", "username"),
        "aws_secret_access_key": _either(given, "secret", "password"),
        "aws_session_token": given.get("token"),
        "endpoint_url": given.get("endpoint_url"),
    }
    for name, value in said.items():
        if value is not None and client.setdefault(name, value) != value:
            raise NotUnderstoodError(f"two values for {name!a}")
    client.setdefault("use_ssl", given.get("use_ssl", True))
    anon, session = bool(given.get("anon")), None
    who = nobody if anon else _static(client, given.get("profile"))
    settled = (
        _ordinary(bucket, client, config, region) if who and not _must_ask(given.get("profile")) else None
    )
    if settled is None:
        session = _session(given.get("profile"))
        settled = _asked(session, bucket, client, config, region)
        who = who or _of_session(session)
    endpoint, region = settled
    address = endpoint_of(endpoint)
    custom = not (address.hostname or "").endswith((_AWS, _AWS + ".cn"))
    return Plan(
        "s3",
        {
            "bucket": bucket,
            "endpoint": endpoint,
            "aws_endpoint_url_s3": endpoint,  # where the environment has one, it would be preferred to the other
            "virtual_hosted_style_request": True,  # the endpoint says where the bucket is, in either style
            "region": region,
            "skip_signature": anon,
            "request_payer": bool(given.get("requester_pays")),
            "conditional_put": "etag",
            "disable_bulk_delete": True,
            "s3_express": False,
            "unsigned_payload": False,
        },
        who or nobody,
        {**_trust(client.get("verify"), address.scheme, session), **_timeouts(config)},
        None if custom else lambda found: plan(bucket, options, found),
    )


def region_of(endpoint: str) -> str:
    """Where the bucket at this address really is; empty if it does not say.

    Every answer of S3 to this question says it, whoever asks; botocore learns it from a redirection instead:
    https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadBucket.html
    """
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    request = Request(endpoint, method="HEAD")  # noqa: S310 - an address that `endpoint_of` has seen
    try:
        with urlopen(request, timeout=5) as answer:  # noqa: S310 - as above
            return answer.headers.get("x-amz-bucket-region") or ""
    except HTTPError as error:
        with error:
            return error.headers.get("x-amz-bucket-region") or ""
    except OSError:
        return ""


def _either(given: Mapping[str, Any], name: str, other: str) -> Any:
    if given.get(name) and given.get(other):
        raise NotUnderstoodError(f"both of {name!a} and {other!a}")
    return given.get(other) or given.get(name)


def _static(client: Mapping[str, Any], profile: str | None) -> Credentials | None:
    """Credentials that were given, or lie in the environment; None where botocore would look elsewhere."""
    key, secret, token = (
        client.get(name) for name in ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
    )
    if key is None and secret is None and token is None and not profile:
        key, secret = os.environ.get("AWS_ACCESS_KEY_ID"), os.environ.get("AWS_SECRET_ACCESS_KEY")
        token = os.environ.get("AWS_SECURITY_TOKEN") or os.environ.get("AWS_SESSION_TOKEN")
        if not key and not secret:
            return None
    elif key is None and secret is None and token is None:
        return None
    if not (isinstance(key, str) and isinstance(secret, str) and key and secret):
        raise NotUnderstoodError("one half of a pair of keys")
    return fixed(access_key_id=key, secret_access_key=secret, token=token)


def _must_ask(profile: str | None) -> bool:
    files = (os.environ.get(name) or default for name, default in _FILES.items())
    return (
        bool(profile)
        or any(os.environ.get(name) for name in _ASK)
        or any(os.path.exists(os.path.expanduser(file)) for file in files)
    )


def _ordinary(
    bucket: str, client: Mapping[str, Any], config: Mapping[str, Any], region: str
) -> tuple[str, str] | None:
    """The address of the bucket and its region, in the cases that need no more than this; None in others."""
    s3 = dictionary("s3", config.get("s3"), names("addressing_style") | set(config.get("s3") or ()))
    style = s3.pop("addressing_style", "auto") or "auto"
    if s3 or style not in _STYLES:
        return None
    said = client.get("region_name") or config.get("region_name") or os.environ.get("AWS_DEFAULT_REGION")
    region = region or said or "us-east-1"
    custom = (
        client.get("endpoint_url")
        or os.environ.get("AWS_ENDPOINT_URL_S3")
        or os.environ.get("AWS_ENDPOINT_URL")
    )
    if custom:
        parts = endpoint_of(custom)
        if style != "virtual":
            return f"{custom.rstrip('/')}/{bucket}", region
        if _is_address(parts.hostname or "") or "." in bucket:
            return None
        return f"{parts.scheme}://{bucket}.{parts.netloc}{parts.path.rstrip('/')}", region
    if not _PLAIN_REGION.fullmatch(region) or not client["use_ssl"]:
        return None
    host = "s3" + _AWS if region == "us-east-1" else f"s3.{region}{_AWS}"
    # a certificate holds for one name before the host's, so a bucket with dots cannot stand there
    virtual = style != "path" and "." not in bucket
    return (f"https://{bucket}.{host}" if virtual else f"https://{host}/{bucket}"), region


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _session(profile: str | None) -> Any:
    try:
        from botocore.session import Session
    except ImportError:
        raise NotUnderstoodError("settings or credentials that only botocore can find") from None
    return Session(profile=profile)


class _Seen(Exception):  # noqa: N818 - no error: it ends a request that is not to be sent
    """The request that botocore would have sent."""


def _asked(
    session: Any, bucket: str, client: Mapping[str, Any], config: Mapping[str, Any], region: str
) -> tuple[str, str]:
    """The address of the bucket and its region, as botocore would use them; nothing is sent."""
    from botocore import UNSIGNED
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError

    def stop(request: Any, **_: Any) -> NoReturn:
        raise _Seen(request.url)

    try:
        asked = session.create_client(
            "s3",
            region_name=region or client.get("region_name"),
            endpoint_url=client.get("endpoint_url"),
            use_ssl=client["use_ssl"],
            config=Config(**{**config, "signature_version": UNSIGNED}),
        )
        asked.meta.events.register("before-send.s3.HeadObject", stop)
        asked.head_object(Bucket=bucket, Key="k")
    except _Seen as seen:
        url = str(seen.args[0])
        if not url.endswith("/k"):
            raise NotUnderstoodError("the address that botocore would use") from None
        return url[:-2], str(asked.meta.region_name)
    except (BotoCoreError, ValueError, TypeError) as error:
        raise NotUnderstoodError(f"settings that botocore refuses ({type(error).__name__})") from None
    raise NotUnderstoodError("the address that botocore would use")


def _of_session(session: Any) -> Credentials:
    """Whatever botocore finds when it is first asked: profiles, roles, sign-on, containers, instances."""
    lock = Lock()

    def ask() -> Mapping[str, Any]:
        with lock:
            found = session.get_credentials()
            if found is None:
                raise NoCredentialsError
            frozen = found.get_frozen_credentials()
        return {
            "access_key_id": frozen.access_key,
            "secret_access_key": frozen.secret_key,
            "token": frozen.token,
            # botocore renews what would expire within ten minutes, so what it gives is good for these
            "expires_at": datetime.now(UTC) + timedelta(minutes=10),
        }

    return ask


def _trust(verify: Any, scheme: str, session: Any) -> dict[str, Any]:
    if scheme == "http":
        return {"allow_http": True}
    if verify is False:
        return {"allow_invalid_certificates": True}
    if verify not in {None, True} or any(os.environ.get(name) for name in _TRUST):
        raise NotUnderstoodError("a set of trusted certificates")
    if session is not None and session.get_config_variable("ca_bundle"):
        raise NotUnderstoodError("a set of trusted certificates")
    return {}


def _timeouts(config: Mapping[str, Any]) -> dict[str, timedelta]:
    return {name: duration(name, config[name]) for name in sorted(_TIMEOUTS) if name in config}
