"""The text begins with a byte order mark (BOM).

Why: JSON that is exchanged must not begin with one (RFC 8259 section 8.1). Some parsers skip the three
bytes EF BB BF, others call the whole file, or the first line of a JSON Lines file, invalid; and a digest of
the stored bytes would cover them.

Fix: Save the file as UTF-8 without BOM. Editors and Windows tools add it: in Python write with `utf-8` and
not `utf-8-sig`, in PowerShell with `-Encoding utf8NoBOM`. To take it off a copy: `tail -c +4 file > copy`.
"""

NAME = "byte-order-mark"
SEVERITY = "error"
SECTION = "strict-json"
