"""A number is too large for a 64-bit float.

Why: A number such as `1e400` becomes infinity in some parsers and an error in others, so that two readers
do not see the same record.

Fix: Write a number up to about 1.8e308, or a string if the value really is that large.
"""

NAME = "number-overflow"
SEVERITY = "error"
SECTION = "strict-json"
