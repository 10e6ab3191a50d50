"""A byte is not part of any valid UTF-8 character.

Why: JSON is UTF-8. A reader that replaces the byte changes the record without saying so, and one that
refuses loses the whole file to it. It mostly comes from a write that was cut inside a character, from
Latin-1 or UTF-16 text, or from raw bytes put into a string.

Fix: Look at the byte that the finding names. If the record was cut there, restore it from where it came
from. Else convert the file (`iconv -f latin1 -t utf-8`) or have the writer encode binary data as base64, or
better keep it as an artifact. In JSON Lines only this line is affected; all others are still checked.
"""

NAME = "invalid-utf8"
SEVERITY = "error"
SECTION = "strict-json"
