"""The fast driver and the process that it runs in: Ctrl-C, and forks."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted import Answer, Scripted, scripted
from unconfigured import forget

pytest.importorskip("obstore", reason="it is one of two drivers")

MARK = {"ETag": '"e"', "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT"}


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    return forget(monkeypatch, tmp_path)


@pytest.fixture
def server() -> Iterator[Scripted]:
    with scripted() as one:
        yield one


def told(story: str) -> str:
    """What a process of its own prints that does this."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(story)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="no process there can be sent what Ctrl-C sends")
def test_ctrl_c_ends_every_question_and_the_process() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        story = f"""
            import os, signal, threading
            from safepoint.store.obstores import ObstoreClient

            client = ObstoreClient.open("s3", "ckpt", {{
                "endpoint_url": "http://127.0.0.1:{silent.getsockname()[1]}",
                "anon": True,
                "config_kwargs": {{"read_timeout": 3600}},
            }})
            for ask in (
                lambda: client.fetch("ckpt/a").result(),
                lambda: list(client.pieces("ckpt/a")),
                lambda: client.kind("ckpt/a"),
                lambda: list(client.children("ckpt/a")),
                lambda: list(client.below("ckpt/a")),
                lambda: client.create("ckpt/a", b"x"),
                lambda: client.create("ckpt/a", b"x" * 2**20),
                lambda: client.overwrite("ckpt/a", b"x"),
                lambda: client.delete("ckpt/a"),
            ):
                threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
                try:
                    ask()
                except KeyboardInterrupt:
                    print("out", flush=True)
        """
        assert told(story) == "out\n" * 9


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")
def test_after_a_fork_it_fails_at_once_instead_of_waiting_for_ever(server: Scripted) -> None:
    server.answer = lambda _: Answer(body=b"{}", headers=MARK)
    story = f"""
        import os, signal, warnings
        from safepoint.store.obstores import ObstoreClient

        def opened():
            return ObstoreClient.open("s3", "ckpt", {{"endpoint_url": {server.url!r}, "anon": True}})

        client = opened()
        client.fetch("ckpt/a").result()
        warnings.simplefilter("ignore")  # newer Pythons warn of threads that a fork leaves behind
        if os.fork() == 0:
            signal.alarm(20)
            for ask in (lambda: client.delete("ckpt/a"), client.fetch("ckpt/a").result):
                try:
                    ask()
                except Exception as error:
                    print(client.explain(error)[1], opened(), flush=True)
            os._exit(0)
        os.wait()
    """
    said = "this process was forked from one that had obstore loaded, which cannot go on in it None\n"
    assert told(story) == said * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")
def test_a_fork_of_a_process_that_used_obstore_by_itself_is_noticed(server: Scripted) -> None:
    server.answer = lambda _: Answer(headers=MARK)
    story = f"""
        import os, signal, warnings
        import safepoint.store.obstore_forks
        from obstore.store import S3Store

        options = {{"endpoint": {server.url!r}, "region": "eu-central-1", "skip_signature": True}}
        S3Store("ckpt", **options, client_options={{"allow_http": True}}).put("a", b"")
        warnings.simplefilter("ignore")
        if os.fork() == 0:
            signal.alarm(20)
            from safepoint.store.obstores import ObstoreClient

            print(ObstoreClient.open("s3", "ckpt", {{"endpoint_url": {server.url!r}, "anon": True}}), flush=True)
            os._exit(0)
        os.wait()
    """
    assert told(story) == "None\n"


def test_nothing_of_obstore_is_loaded_to_notice_a_fork() -> None:
    assert told("import sys, safepoint.store.obstore_forks; print('obstore' in sys.modules)") == "False\n"
