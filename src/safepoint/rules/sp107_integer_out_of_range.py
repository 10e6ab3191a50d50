"""An integer lies beyond ±(2^53-1), that is ±9007199254740991.

Why: JavaScript, jq and every reader that keeps numbers as 64-bit floats rounds it without a word:
9007199254740993 becomes 9007199254740992. An id or a sequence number that is off by one names another
record.

Fix: Write large ids, hashes and nanosecond times as strings. Only the member that the finding names has to
change, together with what reads it.
"""

NAME = "integer-out-of-range"
SEVERITY = "error"
SECTION = "strict-json"
