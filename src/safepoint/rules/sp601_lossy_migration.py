"""Something would be lost on the way to the version asked for, and nobody allowed that.

Why: a lower version keeps the members that it does not know under an x- name, so hardly anything is lost. Two things
are: records of kinds that it lacks, such as leases and approvals; and demands (`requires`) that its readers do
not honour, so that they would resume what the writer forbade. A whole store then is not written at all.

Fix: stay at the newer version, or accept the loss with --allow-loss after reading the other findings.
"""

NAME = "lossy-migration"
SEVERITY = "error"
SECTION = "migration"
