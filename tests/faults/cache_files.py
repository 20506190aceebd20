# SPDX-License-Identifier: Apache-2.0
"""The files of the credential cache, as docs/cache.md describes them: checks whether one is
complete, and makes one."""
import re
import struct
import time

END = re.compile(rb"end ([0-9a-f]{16})\n\Z")
MASK = (1 << 64) - 1
PRIME = 0x100000001b3


def checksum(data):
    total = 0xcbf29ce484222325
    padded = data + b"\0" * (-len(data) % 8)
    for (word,) in struct.iter_unpack("<Q", padded):
        total = ((total ^ word) * PRIME) & MASK
        total ^= total >> 32
    return ((total ^ len(data)) * PRIME) & MASK


def is_whole(data):
    """Whether the last line has the checksum of the text before it."""
    end = END.search(data)
    return end is not None and f"{checksum(data[:end.start()]):016x}" == end[1].decode()


def field(text, name):
    """The first value of this name that is one line. None if there is none."""
    found = re.search(rf"^{re.escape(name)} \d+\n(.*)$", text, re.MULTILINE)
    return found and found[1]


def credential(token, key="made up"):
    now = time.time_ns()
    text = "execcred credential 2\n"
    for name, value in (("key", key), ("created", now), ("expires", now + 3600 * 10 ** 9),
                        ("reask-after", 10 ** 10), ("endless", 0), ("identity", ""),
                        ("target", "https://h"), ("token", token), ("client-certificate", ""),
                        ("client-key", "")):
        text += f"{name} {len(str(value))}\n{value}\n"
    return f"{text}end {checksum(text.encode()):016x}\n"
