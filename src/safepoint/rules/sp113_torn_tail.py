"""The last line of a JSON Lines file is cut off.

Why: The writer died while it appended, or is still at it. All lines before are good and count; but the cut
one may have been the record of an attempt to send, so a guard that reads this run does not let it go on as
if nothing were there.

Fix: If a writer is alive, validate again when it is done. Else find out what the cut record announced (its
beginning is still there), settle that action with evidence from outside, and only then drop the cut line in
a copy. A complete last line without a line feed is not torn.
"""

NAME = "torn-tail"
SEVERITY = "error"
SECTION = "strict-json"
