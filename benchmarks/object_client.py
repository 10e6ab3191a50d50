"""One measured client of the object store: ``python -m benchmarks.object_client WHAT PORT OBJECTS``; prints figures.

Decided here: what is inside the measured time. The libraries are imported before it begins; opening, connecting and
listing are inside, and of s3fs only what it cannot do without: it is handed the list of paths that the others find out.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from importlib import import_module
from typing import Any

from benchmarks.object_server import BUCKET, SIZE, key_of

CONNECTIONS = 8
"""Of the floor: with more of them, Python's threads only stand in each other's way."""


def options(port: int) -> dict[str, Any]:
    """As s3fs names them."""
    return {
        "endpoint_url": f"http://127.0.0.1:{port}",
        "key": "benchmark",
        "secret": "benchmark",
        "client_kwargs": {"region_name": "us-east-1"},
    }


def floor(port: int, objects: int) -> int:
    """Sockets that ask for one object after the other, and read the answers: what the server and Python allow."""

    def ask(part: int) -> int:
        size = 0
        with (
            socket.create_connection(("127.0.0.1", port)) as connection,
            connection.makefile("rb") as answers,
        ):
            for number in range(part, objects, CONNECTIONS):
                connection.sendall(
                    f"GET /{BUCKET}/{key_of(number)} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
                )
                while answers.readline() != b"\r\n":
                    pass
                size += len(answers.read(SIZE))
        return size

    with ThreadPoolExecutor(CONNECTIONS) as threads:
        return sum(threads.map(ask, range(CONNECTIONS)))


def s3fs_cat(port: int, objects: int) -> int:
    """s3fs, as it is without any settings."""
    from s3fs import S3FileSystem

    paths = [f"{BUCKET}/{key_of(number)}" for number in range(objects)]
    files: dict[str, bytes] = S3FileSystem(**options(port)).cat(paths)
    return sum(map(len, files.values()))


def store_get_many(port: int, driver: str) -> int:
    """A store: opened, listed, and read while it is listed."""
    from safepoint.store import StoreError, open_store

    size = 0
    store = open_store(f"s3://{BUCKET}", driver=driver, **options(port))
    for data in store.get_many(store.list()):
        if isinstance(data, StoreError):
            raise data
        size += len(data)
    return size


def store_list(port: int, driver: str) -> int:
    """The first key of a listing; then the rest. Returns how many pages had been asked for before the first."""
    from safepoint.store import open_store

    keys = open_store(f"s3://{BUCKET}", driver=driver, **options(port)).list()
    next(keys)
    before = pages(port)
    count = 1 + sum(1 for _ in keys)
    assert count > 1
    return before


def pages(port: int) -> int:
    """How many pages the server was asked for since this was last asked."""
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", "/pages")
    asked = int(connection.getresponse().read())
    connection.close()
    return asked


READERS: dict[str, Callable[[int, int], int]] = {
    "floor": floor,
    "s3fs": s3fs_cat,
    "fsspec": lambda port, _: store_get_many(port, "fsspec"),
    "obstore": lambda port, _: store_get_many(port, "obstore"),
}
LISTERS: dict[str, Callable[[int, int], int]] = {
    "list-fsspec": lambda port, _: store_list(port, "fsspec"),
    "list-obstore": lambda port, _: store_list(port, "obstore"),
}


IMPORTS = {
    "s3fs": ("s3fs",),
    "fsspec": ("s3fs", "safepoint.store.connecting", "safepoint.store.s3"),
    "obstore": ("obstore.store", "safepoint.store.connecting", "safepoint.store.obstores"),
}
"""Once in a process, whatever is then read."""


def main(what: str, port: int, objects: int) -> None:
    """Measure one of them."""
    for module in IMPORTS.get(what.removeprefix("list-"), ()):
        import_module(module)
    pages(port)
    start, cpu = time.perf_counter(), time.process_time()
    result = {**READERS, **LISTERS}[what](port, objects)
    figures = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu, "result": result}
    if what in READERS and result != objects * SIZE:
        raise ValueError(f"{what} read {result} bytes instead of {objects * SIZE}")
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
