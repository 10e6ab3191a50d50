"""What obstore is told where fsspec's file systems are given options: the parts that all backends share.

Decided here: that a connection is only made where every option, every setting of fsspec's own configuration and every
variable of the environment means exactly what it means to s3fs, gcsfs or adlfs. Anything else is `NotUnderstoodError`,
and fsspec does the work. Not decided here: what each option means (``obstore_s3``, ``obstore_gcs``, ``obstore_azure``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal
from urllib.parse import SplitResult, urlsplit


def names(text: str) -> frozenset[str]:
    """Names with blanks between them."""
    return frozenset(text.split())


CACHING = names(
    "skip_instance_cache use_listings_cache listings_expiry_time max_paths default_block_size default_fill_cache "
    "default_cache_type block_size blocksize cache_timeout max_concurrency"
)
"""How fsspec keeps and cuts what it has read: nothing that a store here would ever ask for."""

_CLIENT = names(
    "ALLOW_HTTP ALLOW_INVALID_CERTIFICATES CONNECT_TIMEOUT DEFAULT_CONTENT_TYPE HTTP1_ONLY HTTP2_KEEP_ALIVE_INTERVAL "
    "HTTP2_KEEP_ALIVE_TIMEOUT HTTP2_KEEP_ALIVE_WHILE_IDLE HTTP2_MAX_FRAME_SIZE HTTP2_ONLY POOL_IDLE_TIMEOUT "
    "POOL_MAX_IDLE_PER_HOST PROXY_URL PROXY_CA_CERTIFICATE PROXY_EXCLUDES RANDOMIZE_ADDRESSES READ_TIMEOUT "
    "ROOT_CERTIFICATE TIMEOUT USER_AGENT"
)
"""Of obstore's HTTP client; it reads each from the environment, behind the backend's prefix."""


class NotUnderstoodError(Exception):
    """Something is in play whose meaning is not known exactly; the text names it, and no value of it."""


Credentials = Callable[[], Mapping[str, Any]]
"""As obstore asks for them, again and again until they say that they never expire."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How obstore is to be opened."""

    kind: Literal["s3", "gs", "az"]
    config: Mapping[str, Any]
    """For the store's constructor; without secrets."""
    credentials: Credentials = field(repr=False)
    """Always given: without it, obstore would look for some in places of its own."""
    client: Mapping[str, Any] = field(default_factory=dict)
    """For obstore's HTTP client, beyond what is the same for all."""
    moved: Callable[[str], Plan] | None = field(default=None, repr=False)
    """At AWS: the same for another region, because only AWS itself knows where a bucket is."""


@dataclass(frozen=True, slots=True)
class Table:
    """What is known of the options of one of fsspec's file systems."""

    protocols: tuple[str, ...]
    """Its names in fsspec's configuration, in the order in which one takes the place of the other."""
    mapped: frozenset[str]
    """Options that mean something here too."""
    neutral: frozenset[str]
    """Options that change neither which bytes come and go nor who asks for them."""
    off: frozenset[str]
    """Options that are understood where they are off."""
    prefix: str
    """How the variables begin that obstore reads by itself."""
    foreign: frozenset[str]
    """Variables that it would obey, that cannot be overruled, and that fsspec's file system does not know."""

    def read(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options with those of fsspec's configuration below them.

        Raises:
            NotUnderstoodError: an option or a variable that is not known.
        """
        given = {**_configured(self.protocols), **options}
        for name, value in given.items():
            if name in self.mapped or name in self.neutral or (name in self.off and not value):
                continue
            raise NotUnderstoodError(f"the option {name!a}")
        for name in sorted(self.foreign | {self.prefix + key for key in _CLIENT}):
            if os.environ.get(name):
                raise NotUnderstoodError(f"the variable {name}")
        return {name: given[name] for name in given if name in self.mapped}


def _configured(protocols: Iterable[str]) -> dict[str, Any]:
    """From fsspec's files and its variables ``FSSPEC_…``, as `fsspec.config.apply_config` reads them."""
    from fsspec.config import conf

    return {name: value for protocol in protocols for name, value in conf.get(protocol, {}).items()}


def endpoint_of(url: Any) -> SplitResult:
    """The address of a server, where it is nothing but an address that no proxy stands before.

    Raises:
        NotUnderstoodError: it is more, or less.
    """
    parts = urlsplit(url) if isinstance(url, str) else None
    if not parts or parts.scheme not in {"http", "https"} or not parts.hostname:
        raise NotUnderstoodError("the address of the endpoint")
    if parts.username is not None or parts.query or parts.fragment:
        raise NotUnderstoodError("the address of the endpoint")
    refuse_proxy(parts.hostname)
    return parts


def refuse_proxy(host: str) -> None:
    """Refuses an environment in which a proxy stands before `host`: each library has its own rules for them."""
    from urllib.request import getproxies_environment, proxy_bypass_environment  # type: ignore[attr-defined] # not in its stubs

    proxies = set(getproxies_environment()) & {"http", "https", "all"}
    if proxies and not proxy_bypass_environment(host):
        raise NotUnderstoodError("the proxy of the environment")


def dictionary(name: str, value: Any, known: frozenset[str]) -> dict[str, Any]:
    """An option that holds options of its own.

    Raises:
        NotUnderstoodError: it holds something else, or one that is not known.
    """
    if value is None or value == {}:
        return {}
    if not isinstance(value, Mapping):
        raise NotUnderstoodError(f"the option {name!a}")
    for inner in value:
        if inner not in known:
            raise NotUnderstoodError(f"{inner!a} in the option {name!a}")
    return dict(value)


def duration(name: str, value: Any) -> timedelta:
    """Seconds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise NotUnderstoodError(f"the value of {name!a}")
    return timedelta(seconds=value)


def fixed(**credentials: Any) -> Credentials:
    """Credentials that never change."""
    return lambda: {**credentials, "expires_at": None}


def nobody() -> Mapping[str, Any]:
    """What is said where a request must be signed although nobody was named to sign it."""
    raise PermissionError
