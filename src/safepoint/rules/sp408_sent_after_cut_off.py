"""An attempt began at or after its sendBefore.

Why: Behind the cut-off the provider may have forgotten the key, and applies the same request a
second time.

Fix: Look at sendBefore right before each send, and hand over when it has passed.
"""

NAME = "sent-after-cut-off"
SEVERITY = "error"
SECTION = "ledger"
NEEDS = ()
ABOUT = "effects"
