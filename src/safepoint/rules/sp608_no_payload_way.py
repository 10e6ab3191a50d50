"""A checkpoint's payload has another version than the one asked for, and no step leads there.

Why: a migration of payloads goes along the steps that the project has configured, and nowhere else. A payload that is
left in its old version among new ones would be found on the day of a recovery, so that the whole migration is refused.

Fix: add the missing steps to [[payload-migrations]] in the settings, each a JSON Patch or a function. What nobody needs
any more can be pruned before.
"""

NAME = "no-payload-way"
SEVERITY = "error"
SECTION = "payload-migrations"
