"""A record's previousDigest is not the digest of the record before it as it is stored.

Why: The chain shows that a record was changed, replaced or reformatted after it was written; its
effects can no longer be trusted.

Fix: Restore the earlier record byte for byte (white space counts). Never pretty-print or re-encode
stored records.
"""

NAME = "broken-chain"
SEVERITY = "error"
SECTION = "chain"
NEEDS = ()
ABOUT = "records"
