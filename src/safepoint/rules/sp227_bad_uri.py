"""A URI does not follow RFC 3986, or is longer than 2048 characters.

Why: Spaces, backslashes and characters beyond ASCII are understood differently by every library,
and one of the readings may lead elsewhere.

Fix: Percent-encode the characters. Write a path inside the run's folder as a relative reference
with forward slashes.
"""

NAME = "bad-uri"
SEVERITY = "error"
SECTION = "uris"
