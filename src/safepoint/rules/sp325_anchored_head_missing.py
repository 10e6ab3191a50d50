"""A log is shorter than an anchor has seen it: its newest records are gone.

Why: A chain cannot show that its end was cut, or that the whole store was put back to an earlier state. The anchor,
which is kept elsewhere, remembers how far the log had come. What was cut may be the record of an effect, and a run that
goes on without it does that effect again. The same holds for a text that could not be read when it was anchored: where
it is gone, and no record came instead, nobody knows what it was.

Fix: Restore the missing records from a copy, byte for byte. If the store was put back on purpose, and somebody answers
for what is lost, say so with `safepoint anchor --accept REASON --by WHO`.
"""

NAME = "anchored-head-missing"
SEVERITY = "error"
SECTION = "anchors"
NEEDS = ()
ABOUT = "records"
