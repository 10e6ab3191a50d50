"""The record requires a feature of its readers that this Safepoint does not know.

Why: Names under requires.read say that the record is misunderstood without that feature. Ignoring
it is exactly what its writer forbids.

Fix: Upgrade Safepoint to a version that knows the feature, or correct the name.
"""

NAME = "unknown-read-requirement"
SEVERITY = "error"
SECTION = "requirements"
