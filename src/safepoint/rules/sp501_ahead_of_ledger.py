"""A checkpoint claims ledger records that the journal does not hold.

Why: Either the journal lost records, or the checkpoint was made up: in both cases effects may be
missing from the ledger.

Fix: Restore the missing records. Write lastLedgerSequence from the journal, never from a counter of
your own.
"""

NAME = "ahead-of-ledger"
SEVERITY = "error"
SECTION = "checkpoints"
NEEDS = ("order", "whole")
ABOUT = "checkpoints"
