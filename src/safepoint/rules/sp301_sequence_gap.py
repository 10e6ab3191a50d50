"""A number of the journal or of the recovery log is missing.

Why: The record that is not there may be an attempt to send something. Nobody can say what must not
happen twice while it is missing.

Fix: Restore the object from a copy or a backup. If it is gone for good, a human must find out at
the providers what was done, and say so with evidence.
"""

NAME = "sequence-gap"
SEVERITY = "error"
SECTION = "chain"
NEEDS = ()
ABOUT = "records"
