"""A real mail server on this machine that counts what it delivers; no mail ever leaves the machine.

Decided here: what the server does with a message that it has already seen, and what may happen between accepting a
message and answering for it. That gap is where no sender can know.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from email import message_from_bytes
from typing import Any, Self

HOST = "127.0.0.1"


class Mailbox(AbstractContextManager["Mailbox"]):
    """An SMTP server in a thread, on a free port of the loopback interface, while the ``with`` block lasts.

    Args:
        keyed: drop a second message with a Message-ID that was delivered before, and acknowledge it all the same.
    """

    def __init__(self, *, keyed: bool = False) -> None:
        self.keyed = keyed
        self.delivered: list[str] = []
        """Message-IDs in the order of their delivery."""
        self.port = 0
        self.before_answer: Callable[[], None] | None = None
        """Called once, when a message was delivered and the sender waits for the answer; may block."""
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        self._thread = threading.Thread(target=self._serve, name="mailbox", daemon=True)

    def __enter__(self) -> Self:
        """Start to listen."""
        self._loop = asyncio.new_event_loop()
        self._thread.start()
        if not self._ready.wait(10):
            raise TimeoutError("the demo's mail server did not start")
        return self

    def __exit__(self, *error: object) -> None:
        """Stop."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _serve(self) -> None:
        from aiosmtpd.smtp import SMTP

        async def listen() -> asyncio.Server:
            return await self._loop.create_server(lambda: SMTP(self, hostname="localhost"), HOST, 0)

        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(listen())
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        """Deliver one message, then answer for it."""
        message_id = str(message_from_bytes(envelope.content)["Message-ID"])
        if not (self.keyed and message_id in self.delivered):
            self.delivered.append(message_id)
        hook, self.before_answer = self.before_answer, None
        if hook:
            await self._loop.run_in_executor(None, hook)
        return "250 OK"
