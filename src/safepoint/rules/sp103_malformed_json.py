"""The text is not JSON.

Why: Nothing behind the place that the finding names can be trusted, so the record counts as unreadable. It
is never skipped in silence: a record that cannot be read may be the one that says what was already sent.

Fix: Correct what the message says was expected there. Usual causes: a comma behind the last member, single
quotes, a comment, `True` or `None` from Python's `repr`, a missing quote, a number such as `01` or `.5`, or
a file that was cut. Write records with a JSON encoder, never by joining strings.
"""

NAME = "malformed-json"
SEVERITY = "error"
SECTION = "strict-json"
