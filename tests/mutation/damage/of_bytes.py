"""Damages of bytes: what disks, crashes, editors and transfers do, without any thought for the format.

Nothing is chained anew: a bit that flips does not mend the digests behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from damage.store import Damage, Good, Wanted, put

Change = Callable[[bytes, int], bytes]

AT_A_BYTE: dict[str, Change] = {
    "byte dropped": lambda data, at: data[:at] + data[at + 1 :],
    "byte doubled": lambda data, at: data[: at + 1] + data[at:],
    "lowest bit flipped": lambda data, at: data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :],
    "case bit flipped": lambda data, at: data[:at] + bytes([data[at] ^ 0x20]) + data[at + 1 :],
    "highest bit flipped": lambda data, at: data[:at] + bytes([data[at] ^ 0x80]) + data[at + 1 :],
    "quote inserted": lambda data, at: data[:at] + b'"' + data[at:],
    "comma inserted": lambda data, at: data[:at] + b"," + data[at:],
    "NUL inserted": lambda data, at: data[:at] + b"\0" + data[at:],
    "control character inserted": lambda data, at: data[:at] + b"\x1f" + data[at:],
    "bad UTF-8 inserted": lambda data, at: data[:at] + b"\xe6\x87" + data[at:],
    "byte order mark inserted": lambda data, at: data[:at] + b"\xef\xbb\xbf" + data[at:],
    "backslash inserted": lambda data, at: data[:at] + b"\\" + data[at:],
    "line feed inserted": lambda data, at: data[:at] + b"\n" + data[at:],
    "two bytes swapped": lambda data, at: (
        data[:at] + data[at + 1 : at + 2] + data[at : at + 1] + data[at + 2 :]
    ),
    "sixteen bytes lost": lambda data, at: data[:at] + data[at + 16 :],
    "sixteen bytes zeroed": lambda data, at: data[:at] + b"\0" * len(data[at : at + 16]) + data[at + 16 :],
    "tail cut off": lambda data, at: data[:at],
    "head cut off": lambda data, at: data[at + 1 :],
    "tail zeroed": lambda data, at: data[:at] + b"\0" * (len(data) - at),
}

OF_A_TEXT: dict[str, Callable[[bytes], bytes]] = {
    "text emptied": lambda data: b"",
    "text blanked": lambda data: b"  ",
    "text made UTF-16": lambda data: data.decode().encode("utf-16"),
    "byte order mark before": lambda data: b"\xef\xbb\xbf" + data,
    "text twice": lambda data: data + data,
    "closing brace lost": lambda data: data.rstrip()[:-1],
    "opening brace lost": lambda data: data.lstrip()[1:],
    "brace added": lambda data: data.rstrip() + b"}",
    "wrapped in a list": lambda data: b"[" + data.rstrip() + b"]",
    "made a JSON string": lambda data: b'"' + data.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"',
    "null instead": lambda data: b"null",
    "words instead": lambda data: b"Internal Server Error",
    "trailing comma": lambda data: data.rstrip()[:-1] + b",}",
    "single quotes": lambda data: data.replace(b'"', b"'"),
    "comment before": lambda data: b"/* saved */" + data,
    "NULs behind": lambda data: data + b"\0" * 64,
    "carriage return behind": lambda data: data.rstrip(b"\n") + b"\r\n",
}

OF_LINES: dict[str, Callable[[list[bytes], int], list[bytes]]] = {
    "line lost": lambda lines, at: lines[:at] + lines[at + 1 :],
    "line twice": lambda lines, at: lines[: at + 1] + lines[at:],
    "two lines swapped": lambda lines, at: [
        *lines[:at], *lines[at + 1 : at + 2], lines[at], *lines[at + 2 :]
    ],
    "two lines glued": lambda lines, at: [
        *lines[:at], b"".join(lines[at : at + 2]), *lines[at + 2 :]
    ],
    "torn line glued": lambda lines, at: [
        *lines[:at], lines[at][: len(lines[at]) // 2] + b"".join(lines[at + 1 : at + 2]), *lines[at + 2 :]
    ],
    "line torn": lambda lines, at: [*lines[:at], lines[at][: len(lines[at]) // 2], *lines[at + 1 :]],
    "line broken in two": lambda lines, at: [
        *lines[:at], lines[at][: len(lines[at]) // 2], lines[at][len(lines[at]) // 2 :], *lines[at + 1 :]
    ],
    "blank line before": lambda lines, at: [*lines[:at], b"", *lines[at:]],
    "CRLF": lambda lines, at: [*lines[:at], lines[at] + b"\r", *lines[at + 1 :]],
    "lines before lost": lambda lines, at: lines[at:],
    "lines behind lost": lambda lines, at: lines[: at + 1],
}  # fmt: skip


KINDS = AT_A_BYTE.keys() | OF_A_TEXT.keys() | OF_LINES.keys()


def damages(good: Good, wanted: Wanted, sample: Callable[[str, int], range]) -> Iterator[Damage]:
    """All of them.

    Args:
        good: what is damaged.
        wanted: which kinds are tried at which text; the place is always empty.
        sample: which of so many offsets of a text a kind is tried at.
    """
    for text in good.texts:
        # a final line feed is no part of a record
        size = len(text.data.rstrip(b"\n"))
        for kind, at_byte in AT_A_BYTE.items():
            for at in sample(kind, size) if wanted(kind, text, "") else ():
                data = at_byte(text.data, at)
                if data != text.data:
                    yield kind, text, f"byte {at}", put(good.files, text, data)
        for kind, change in OF_A_TEXT.items():
            data = change(text.data)
            if data != text.data and wanted(kind, text, ""):
                yield kind, text, "", put(good.files, text, data)
        if text.key.endswith(".jsonl"):
            whole = good.files[text.key]
            end = b"\n" if whole.endswith(b"\n") else b""
            lines = whole.removesuffix(b"\n").split(b"\n")
            for kind, of_lines in OF_LINES.items():
                data = b"\n".join(of_lines(lines, text.line)) + end
                if data != whole and text.line < len(lines) and wanted(kind, text, ""):
                    yield kind, text, "", {**good.files, text.key: data}
