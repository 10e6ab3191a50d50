"""A step of a payload migration cannot be taken with this payload.

Why: an operation of the JSON Patch does not fit what is there, or one of its tests found another value; or the Python
function raised an error, returned something that is no JSON, or returned something else when it was called again.
The operation is named with its places, and the error with its line; what the error said is not shown, because it may
hold what was saved.

Fix: look at what was saved with safepoint show STORE --run RUN --show-values, and at the step. Old payloads often lack
a member that newer ones have: a function can ask whether it is there, a JSON Patch cannot.
"""

NAME = "payload-step-failed"
SEVERITY = "error"
SECTION = "payload-migrations"
