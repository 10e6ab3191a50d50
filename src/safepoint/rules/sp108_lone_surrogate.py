r"""A string holds half of a surrogate pair, such as \ud83d without its second half.

Why: It is no character and has no UTF-8 form: one reader replaces it, another one fails when it prints or
stores the string. It comes from text that was cut by UTF-16 length, often in the middle of an emoji.

Fix: Remove the half or restore the whole character. Where the program shortens text, cut between
characters: in JavaScript `Array.from(text).slice(0, n).join('')` instead of `text.slice(0, n)`, and
`text.toWellFormed()` before writing.
"""

NAME = "lone-surrogate"
SEVERITY = "error"
SECTION = "strict-json"
