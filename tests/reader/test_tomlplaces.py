"""On which line of a TOML text a member stands."""

from __future__ import annotations

import pytest

from safepoint.reader.tomlplaces import line_of

TEXT = """\
a = 1
# [b.c]
[b.c]
d = { e = 1 }
"f.g" = 2

[[list]]
x = 1
[[list]]
x = 2
[list.more]
y = 3

[actions.7]
h = [
  1,
]
"""


@pytest.mark.parametrize(
    ("pointer", "line"),
    [
        ("", 1),
        ("/a", 1),
        ("/b", 3),
        ("/b/c", 3),
        ("/b/c/missing", 3),
        ("/b/c/d", 4),
        ("/b/c/d/e", 4),
        ("/b/c/f.g", 5),
        ("/list", 7),
        ("/list/0/x", 8),
        ("/list/1", 9),
        ("/list/1/x", 10),
        ("/list/1/more/y", 12),
        ("/actions/7", 14),
        ("/actions/7/h/0", 15),
        ("/actions/8", 14),
        ("/missing", 1),
    ],
)
def test_a_member_stands_on_the_line_where_it_begins(pointer: str, line: int) -> None:
    assert line_of(TEXT, pointer) == line
