"""A list that may hold each item once holds one twice.

Why: Such a list is a set. A repetition is usually a merge gone wrong, and makes counts and
comparisons differ between readers.

Fix: Remove the repetition.
"""

NAME = "repeated-item"
SEVERITY = "error"
SECTION = "records"
