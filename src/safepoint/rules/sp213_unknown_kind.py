"""The record's recordType is none that its version knows.

Why: The kind decides what every other member means. A record of an unknown kind could be an effect
or a lease that nobody takes into account.

Fix: Correct the name. Documents of your own should not carry recordType.
"""

NAME = "unknown-kind"
SEVERITY = "error"
SECTION = "recognition"
