"""Findings, decisions and runs as text for people and as JSON for programs.

Decided here: layout, words and colours. Every function returns text or bytes and prints nothing. Nothing here ever
shows a payload's value unless the caller asks for it.
"""
