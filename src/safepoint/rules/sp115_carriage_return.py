r"""A line of a JSON Lines file ends with a carriage return and a line feed.

Why: The record is read all the same, but the carriage return belongs to its stored bytes and so to its
digest. A tool that later changes the line ends breaks the chain of digests.

Fix: Write lines that end with a line feed alone; in Python open the file with `newline="\n"`. Do not
convert the line ends of a chained journal: check that no git attribute or editor does so.
"""

NAME = "carriage-return"
SEVERITY = "warning"
SECTION = "strict-json"
