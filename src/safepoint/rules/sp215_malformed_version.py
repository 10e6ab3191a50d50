"""The schemaVersion is not of the form vMAJOR or vMAJOR.MINOR.

Why: Versions are compared as integers, so that v10 is newer than v9. Text such as 3, v3.0.1 or
latest has no place in that order.

Fix: Write v1, v2, v3, or a minor such as v3.1: digits without leading zeros.
"""

NAME = "malformed-version"
SEVERITY = "error"
SECTION = "versions"
