"""A status or event stands without the member that gives it its meaning.

Why: In a journal an attempt without its deadline, a commitment without evidence or a failure
without its error cannot be judged later, when the process that knew is gone.

Fix: Have the writer write the member that the message names: attempt for attempting, reservation
for prepared, evidence for committed and abandoned, error for failed, and so on. Leave the stored
record as it is: a change would break the chain behind it (SP303).
"""

NAME = "status-without-its-member"
SEVERITY = "error"
SECTION = "the-ledger-record"
