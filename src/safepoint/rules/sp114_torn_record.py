"""A line in the middle of a JSON Lines file is a cut record, or a cut record with another one glued to it.

Why: A writer died while it appended, and the next one went on at the same line without a line feed. At
least one record is incomplete and cannot be read, and it may be the one that says that something was sent.
Later lines are still checked.

Fix: Look at the line: what does its first part announce, and where does the next record begin? Settle the
announced action with evidence from outside; then, in a copy, put each whole record on a line of its own.
Writers avoid this by beginning with a line feed if the file does not end with one, and for good with one
file for each record.
"""

NAME = "torn-record"
SEVERITY = "error"
SECTION = "strict-json"
