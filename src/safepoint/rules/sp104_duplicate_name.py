r"""One object holds the same member name twice.

Why: Most parsers keep the last of the two, some the first, some refuse. `{"status": "failed", "status":
"committed"}` is two different records to two readers, and one of them would send again.

Fix: Keep the member that is right and remove the other one. Names are compared after their escapes are
read, so `"a"` and `"\u0061"` are the same. If a program wrote this, it builds JSON by hand or merges two
objects as text.
"""

NAME = "duplicate-name"
SEVERITY = "error"
SECTION = "strict-json"
