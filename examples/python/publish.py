"""A run that can be killed at any moment and started again by the same command."""

import os
import signal
import sys

from safepoint.recorder import Declares, RunExists, resume_run, start_run

STORE, RUN, HOLDER = "my-runs", "run-7", "worker-1"
MAIL = Declares(effect="message", idempotency="keyed", dedupe_window_seconds=86_400)


def open_run(facts=None):
    try:
        return start_run(STORE, RUN, workflow="publish", holder=HOLDER)
    except RunExists:
        return resume_run(STORE, RUN, holder=HOLDER, facts=facts)  # asks the guard; ResumeRefused if it says no


def send(request, key):
    print("sending with key", key)
    if "--kill" in sys.argv:
        os.kill(os.getpid(), signal.SIGKILL)  # the mail is out, and the answer never comes
    return {"accepted": True}


facts = next((name for name in sys.argv[1:] if name.endswith(".json")), None)
with open_run(facts) as run:
    if run.last_checkpoint is None:
        run.checkpoint("cp-1", state="approved", step_name="draft", next_steps=["notify"])
    if "notify" in run.next_steps:
        request = {"to": "readers@example.org", "text": "It is out."}
        with run.effect("mail-1", step_name="notify", request=request, key=f"{RUN}/1", declares=MAIL) as mail:
            mail.call(send, request, mail.key)  # recorded before and after; what is done is not called again
        run.checkpoint("cp-2", state="published", step_name="notify", next_steps=[])
    run.complete()
