"""No rule can tell whether the new payload schema accepts all that the old one does.

Why: Patterns, conditions and alternatives can say the same in many ways, and nobody can compare all of them. What
is not proven is not called compatible.

Fix: Try the stored payloads: `safepoint compat OLD NEW STORE`. Where they are accepted, `--fail-on error` lets
this pass.
"""

NAME = "payload-compatibility-unknown"
SEVERITY = "warning"
SECTION = "payload-compatibility"
