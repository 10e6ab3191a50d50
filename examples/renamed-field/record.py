"""Writes `store`: a support agent that died after it answered a customer, and before it closed the ticket.

Clock and nonces are fixed, so that the store is the same whenever it is written:

    rm -r store && python record.py
"""

from itertools import count
from pathlib import Path

from safepoint.recorder import Declares, start_run

SECOND = 1_000_000_000
START = 1_778_148_000 * SECOND  # 2026-05-07T10:00:00Z
MAIL = Declares(effect="message", idempotency="keyed", dedupe_window_seconds=86_400)

ticks = count()
numbers = count(1)


def clock() -> int:
    return START + next(ticks) * SECOND


def nonce() -> str:
    return f"{next(numbers):032x}"


def send(request: dict[str, str]) -> dict[str, str]:
    return {"accepted": request["to"]}


run = start_run(
    str(Path(__file__).parent / "store"),
    "ticket-17",
    workflow="support-agent",
    holder="worker-1",
    clock=clock,
    nonce=nonce,
)
state = {"customer": "c_456", "ticket": 17, "draft": "Your parcel is on its way."}
run.checkpoint(
    "cp-1",
    state="drafted",
    step_name="draft",
    next_steps=["answer", "close"],
    payload_schema="support-agent/state@4",
    state_snapshot=state,
)
request = {"to": "c_456", "text": state["draft"]}
with run.effect(
    "answer-17", step_name="answer", request=request, key="ticket-17/answer", declares=MAIL
) as mail:
    mail.call(send, request)
run.checkpoint(
    "cp-2",
    state="answered",
    step_name="answer",
    next_steps=["close"],
    payload_schema="support-agent/state@4",
    state_snapshot=state,
)
# Here the worker died.
