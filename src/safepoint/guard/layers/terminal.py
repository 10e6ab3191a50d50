"""Layer 1: has the run ended already? (SPEC.md#guard-terminal)."""

from __future__ import annotations

from safepoint.guard.case import Case, Opinion


def judge(case: Case, opinion: Opinion) -> None:
    """The run's last word, and what is still open behind it."""
    run = case.run
    ended = run.ended_by
    if run.deleted is not None:
        opinion.say(
            "SP717",
            "no_op",
            "the run had ended and was deleted on purpose; nothing of it can go on",
            evidence=run.deleted,
            decisive=True,
        )
        return
    if run.status == "sealed":
        opinion.say(
            "SP713",
            "no_op",
            "this copy of the run was sealed; its successor has the authority now",
            evidence=ended,
            pointer="/status",
            decisive=True,
        )
        return
    stopped = run.status in {"completed", "cancelled"} or run.cancel_requested is not None
    if run.status == "failed" and not run.cancel_requested:
        opinion.say(
            "SP715",
            "resume",
            "the run was recorded as failed; it is judged like an interrupted one",
            evidence=ended,
        )
    if not stopped:
        return
    evidence = run.cancel_requested or ended
    if case.undoing and run.cancel_requested and case.to_undo:
        return  # stopping in the middle of a roll-back would leave half of it
    if case.open_effects:
        probes = [a for a in case.open_effects if case.can_probe(a) and case.probe(a) is None]
        opinion.say(
            "SP712",
            "reconcile" if len(probes) == len(case.open_effects) else "hand_over",
            f"the run is {_state(case)}, but {_effects(len(case.open_effects))} still open; "
            "that must be settled, and nothing new may start",
            evidence=evidence,
            pointer="/status",
        )
        for action in case.open_effects:
            if action.open_attempts or action.status == "prepared":
                message = "settle this effect with evidence of what became of it"
                opinion.need("outcome", action.action_id, message)
            else:
                opinion.need(
                    "human", action.action_id, "undo it by hand, and record what became of its compensation"
                )
    elif run.status == "completed":
        opinion.say(
            "SP710",
            "no_op",
            "the run is completed and nothing is open",
            evidence=ended,
            pointer="/status",
            decisive=True,
        )
    else:
        opinion.say(
            "SP714" if run.cancel_requested else "SP711",
            "give_up",
            f"the run is {_state(case)} and nothing is open",
            evidence=evidence,
            pointer="/status",
            decisive=True,
        )


def _effects(number: int) -> str:
    return "1 effect is" if number == 1 else f"{number} effects are"


def _state(case: Case) -> str:
    return "asked to stop" if case.run.cancel_requested else case.run.status
