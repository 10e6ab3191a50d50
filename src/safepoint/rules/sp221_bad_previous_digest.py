"""The previousDigest is null in a later record of a chain, or is not null in the first.

Why: Only sequence 1 has no predecessor. A later record without the digest of the one before breaks
the chain's proof that nothing was removed.

Fix: Write the digest of the stored bytes of the record before; write null at sequence 1 and only
there.
"""

NAME = "bad-previous-digest"
SEVERITY = "error"
SECTION = "journal-members"
