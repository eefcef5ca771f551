"""A small picture and a short sound, made of nothing but arithmetic."""

import math
import struct
import zlib

RATE = 8000
"""Samples of sound in a second."""


def picture(width: int = 160, height: int = 90, padding: int = 0) -> bytes:
    """A PNG of a sunset over the sea; `padding` more bytes make it as heavy as a photograph."""
    rows = b"".join(b"\0" + _row(width, y / height) for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [
        (b"IHDR", header),
        (b"tEXt", b"Comment\0" + b"x" * padding),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _row(width: int, down: float) -> bytes:
    sky = (255, int(120 + 100 * down), int(90 + 60 * down))
    sea = (20, int(90 - 40 * down), int(140 - 60 * down))
    return bytes(sky if down < 0.6 else sea) * width


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def beep(seconds: float = 0.5, pitch: float = 440) -> bytes:
    """A WAV of one tone, 8 bits, mono."""
    count = int(seconds * RATE)
    samples = bytes(int(128 + 60 * math.sin(2 * math.pi * pitch * index / RATE)) for index in range(count))
    shape = b"fmt " + struct.pack("<IHHIIHH", 16, 1, 1, RATE, RATE, 1, 8)
    body = b"WAVE" + shape + b"data" + struct.pack("<I", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", len(body)) + body
