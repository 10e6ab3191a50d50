"""A record has only some of the members that place it in a chain, or has them beside a migration's marks.

Why: The members sequence, previousDigest, nonce and leaseEpoch prove order and ownership only
together. With one of them missing the record would be taken for a link of a chain that cannot be
checked. A migrated record has no place in a chain, so orderEvidence and migratedFrom never stand
beside them.

Fix: Write all four (in the recovery log: sequence, previousDigest and nonce), or none where no
journal is kept. A lease always has all four.
"""

NAME = "incomplete-journal-members"
SEVERITY = "error"
SECTION = "journal-members"
