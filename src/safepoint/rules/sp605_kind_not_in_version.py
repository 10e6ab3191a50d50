"""The version asked for has no records of this kind.

Why: v1 and v2 know checkpoints and ledger records only. A run, lease, approval, evidence, retract or recovery record
cannot be said in them, and a document such as a policy neither. Without leases and approvals a reader of the lower
version knows less about who owns the run and what was allowed; without a retract record it shows again what was hidden.

Fix: stay at v3. A whole store or a JSON Lines file leaves such records out if --allow-loss is given.
"""

NAME = "kind-not-in-version"
SEVERITY = "error"
SECTION = "migration"
