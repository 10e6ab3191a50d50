"""A name breaks its grammar: a step, a state, a part of guardContext, a feature, a currency.

Why: Names are compared as text and the parts of guardContext are hashed, so only characters with
one spelling are allowed there.

Fix: Use 1 to 256 characters without control characters; for parts and features only lower-case
letters, digits, dot, underscore and hyphen; for a currency three capital letters.
"""

NAME = "bad-name"
SEVERITY = "error"
SECTION = "names"
