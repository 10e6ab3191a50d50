"""A time does not follow the format's grammar, or names a day that does not exist.

Why: Deadlines, cut-offs and expiries are compared to the nanosecond. A time that two readers take
for two moments can send an effect twice.

Fix: Write RFC 3339 such as 2026-05-07T10:00:00Z: in v3 always with Z, a leap second written as
second 59, and at most nine digits of fraction. A time that is not known is null, where the field
table allows it.
"""

NAME = "bad-time"
SEVERITY = "error"
SECTION = "times"
