"""More text follows behind the JSON value.

Why: One text holds one value. Some parsers stop behind the first and never see the second: of two records
written to one file, the newer one would be lost.

Fix: If one record was written over several lines of a `.jsonl` file, write it on one line, or name the
file `.json`. If two records were glued together, give each its own file, or its own line in a `.jsonl` file. If the
file was written over a longer one without cutting it first, its end is left over from the old one: restore
both from where they came from.
"""

NAME = "trailing-data"
SEVERITY = "error"
SECTION = "strict-json"
