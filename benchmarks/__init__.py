"""What validating costs, as a ratio to reading and parsing the same bytes: ``python -m benchmarks``.

Decided here: nothing. ``scenes``, ``story`` and ``corpus`` make the records, ``faults`` damages some, ``floor`` is the
yardstick, ``processes`` measures, ``peers`` knows other validators, ``rows`` says what is compared, ``table`` prints.
"""
