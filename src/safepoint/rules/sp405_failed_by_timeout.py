"""A ledger record says failed, but its error only says that no answer came.

Why: A lost answer is not a refusal: the provider may have applied the effect. Such a record is read
as inDoubt.

Fix: Write inDoubt for timeouts, resets and 500, 502 and 504 answers; write failed only where the
request was certainly not applied.
"""

NAME = "failed-by-timeout"
SEVERITY = "warning"
SECTION = "ledger"
NEEDS = ()
ABOUT = "effects"
