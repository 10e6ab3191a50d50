"""A record follows the record that ended the run.

Why: After completed, cancelled or sealed nothing new may start; only what settles open effects is
legal.

Fix: Start a new run for new work. To settle an open effect, write evidence, or claim a lease with
purpose resolution.
"""

NAME = "after-the-end"
SEVERITY = "error"
SECTION = "chain"
NEEDS = ("order", "whole")
ABOUT = "ends"
