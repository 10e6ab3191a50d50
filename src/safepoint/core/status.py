"""The words that a v1 or v2 writer may have put into a ledger record's ``status``, where any word was legal.

Decided here: which of them are understood, and the v3 status that each stands for (SPEC.md#the-ledger-record).
Not decided here: what becomes of any other word; ``schemas`` warns of it, and a migration takes it for in doubt,
because whatever the word means, it may stand for a send.
"""

from __future__ import annotations

from collections.abc import Mapping

OLD_STATUSES: Mapping[str, str] = {
    "planned": "planned",
    "pending": "attempting",
    "started": "attempting",
    "attempting": "attempting",
    "inDoubt": "inDoubt",
    "prepared": "prepared",
    "committed": "committed",
    "failed": "failed",
    "compensating": "compensating",
    "compensated": "compensated",
    "compensationFailed": "compensationFailed",
    "cancelled": "cancelled",
    "abandoned": "abandoned",
}
"""Each word of an old ledger that has a meaning of its own, and that meaning in v3's words."""
