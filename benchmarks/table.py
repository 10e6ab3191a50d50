"""Measured costs as one table in Markdown.

Decided here: which figures are shown and how they are rounded. A row's ratio is the median, over the rounds, of its
cost to the cost of its group's first row in the same round.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.processes import Cost

HEAD = ("what runs", "CPU s", "CPU/floor", "wall s", "wall/floor", "peak MB", "remarks")


@dataclass(frozen=True, slots=True)
class Measured:
    """A row: what was run, and what it cost in each round."""

    name: str
    costs: Sequence[Cost]
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that took turns; the first one is what the others are compared with."""

    title: str
    rows: Sequence[Measured]
    compared: bool = True


def render(groups: Iterable[Group]) -> str:
    """The table, its columns aligned so that it can be read as it is."""
    lines: list[Sequence[str]] = []
    for group in groups:
        lines.append((f"**{group.title}**", *[""] * (len(HEAD) - 1)))
        lines.extend(_line(row, group.rows[0] if group.compared else None) for row in group.rows)
    return aligned(HEAD, lines, text={0, len(HEAD) - 1})


def aligned(head: Sequence[str], lines: Sequence[Sequence[str]], text: Container[int]) -> str:
    """A table whose columns are aligned; those that hold `text` to the left, the others to the right."""
    widths = [max(len(line[i]) for line in (head, *lines)) for i in range(len(head))]
    left = [i in text for i in range(len(head))]
    rule = [
        "-" * width if is_text else "-" * (width - 1) + ":"
        for width, is_text in zip(widths, left, strict=True)
    ]
    return "".join(f"| {' | '.join(_padded(row, widths, left))} |\n" for row in (head, rule, *lines))


def _padded(row: Sequence[str], widths: Sequence[int], text: Sequence[bool]) -> list[str]:
    return [
        cell.ljust(width) if left else cell.rjust(width)
        for cell, width, left in zip(row, widths, text, strict=True)
    ]


def _line(row: Measured, base: Measured | None) -> Sequence[str]:
    if not row.costs:
        return (row.name, *["-"] * 5, row.remark)
    cpu, wall = [cost.cpu for cost in row.costs], [cost.wall for cost in row.costs]
    return (
        row.name,
        f"{median(cpu):.3f}",
        _ratio(cpu, [cost.cpu for cost in base.costs]) if base else "",
        f"{median(wall):.3f}",
        _ratio(wall, [cost.wall for cost in base.costs]) if base else "",
        f"{max(cost.peak for cost in row.costs) / 1e6:.0f}",
        row.remark,
    )


def _ratio(these: Sequence[float], those: Sequence[float]) -> str:
    return f"{median(this / that for this, that in zip(these, those, strict=True)):.2f}"
