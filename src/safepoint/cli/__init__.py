"""The command line: arguments in, text or JSON out, an exit status that a script can trust.

Decided here: options, exit statuses, colour, and which stream gets what. Each command is a module of its own, imported
when it is called. Not decided here: anything about records; that is ``safepoint.api`` and the rooms below it.
"""
