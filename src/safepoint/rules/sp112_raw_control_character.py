r"""A string holds a raw control character, such as a line break.

Why: JSON wants U+0000 to U+001F escaped within strings (RFC 8259 section 7). Lenient parsers let them pass,
others refuse the record, and a raw line feed cuts a JSON Lines record in two.

Fix: Write `\n`, `\t` or `\u001b` in place of the raw byte; every JSON encoder does. Several of them in one
string often mean that a closing quote is missing further up.
"""

NAME = "raw-control-character"
SEVERITY = "error"
SECTION = "strict-json"
