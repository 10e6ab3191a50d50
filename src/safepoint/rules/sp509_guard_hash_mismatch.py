"""The guardHash is not the digest of the guardContext beside it.

Why: One of the two was changed, or was computed from something else. A guard that compared only the
hash would let a moved workflow, tool or prompt pass, or block an equal one.

Fix: Compute guardHash from the RFC 8785 form of guardContext: member names sorted, no spaces.
Compute both when the checkpoint is written and never edit one alone.
"""

NAME = "guard-hash-mismatch"
SEVERITY = "error"
SECTION = "guard-context"
NEEDS = ()
ABOUT = "checkpoints"
