"""The text holds NaN or Infinity, which JSON does not have.

Why: Python's `json.dumps` writes them unless it is told not to; most other parsers then refuse the whole
record. A counter or a cost that is NaN also compares false with every limit, so that no budget ever stops
the run.

Fix: Write `null` where a figure is unknown, and leave out what was never measured. In Python:
`json.dumps(value, allow_nan=False)` finds the place that makes them.
"""

NAME = "not-a-number"
SEVERITY = "error"
SECTION = "strict-json"
