# SPDX-License-Identifier: MIT
"""png.py - makes a PNG smaller: 256 colours are enough for a plot, and a third of the bytes.

Idea         gnuplot writes three bytes for each pixel, of thousands of colours that differ by the smoothing of edges.
             We keep the most frequent 256 and give each other pixel the nearest of them.  PNG (ISO/IEC 15948:2003),
             sections 9 and 11.
Edges        Reads 8 bits per channel, RGB or RGBA (opaque), not interlaced: what gnuplot writes.  Others are left as
             they are.
"""
from __future__ import annotations

import struct
import zlib
from collections import Counter

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {2: 3, 6: 4}  # by colour type


def _chunks(data: bytes) -> list[tuple[bytes, bytes]]:
	found, at = [], len(SIGNATURE)
	while at < len(data):
		length, kind = struct.unpack(">I4s", data[at:at + 8])
		found.append((kind, data[at + 8:at + 8 + length]))
		at += 12 + length
	return found


def _paeth(left: int, up: int, corner: int) -> int:
	guess = left + up - corner
	a, b, c = abs(guess - left), abs(guess - up), abs(guess - corner)
	return left if a <= b and a <= c else up if b <= c else corner


def _unfilter(kind: int, line: bytearray, above: bytearray, step: int) -> None:
	"""In place; section 9.2."""
	if kind == 2:
		line[:] = bytes((a + b) & 255 for a, b in zip(line, above))
		return
	for x in range(len(line)):
		left = line[x - step] if x >= step else 0
		corner = above[x - step] if x >= step else 0
		line[x] = (line[x] + (left if kind == 1 else (left + above[x]) // 2 if kind == 3
			else _paeth(left, above[x], corner))) & 255


def _rows(raw: bytes, width: int, height: int, step: int) -> list[list[bytes]]:
	"""The pixels' colours, three bytes each."""
	stride = width * step
	above = bytearray(stride)
	rows = []
	for y in range(height):
		start = y * (stride + 1)
		line = bytearray(raw[start + 1:start + 1 + stride])
		if raw[start]:
			_unfilter(raw[start], line, above, step)
		rows.append([bytes(line[x:x + 3]) for x in range(0, stride, step)])
		above = line
	return rows


def _chunk(kind: bytes, data: bytes) -> bytes:
	return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def shrink(data: bytes) -> bytes:
	chunks = _chunks(data)
	width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[0][1])
	if depth != 8 or colour not in CHANNELS or interlaced:
		return data
	raw = zlib.decompress(b"".join(content for kind, content in chunks if kind == b"IDAT"))
	rows = _rows(raw, width, height, CHANNELS[colour])
	palette = [name for name, _ in Counter(pixel for row in rows for pixel in row).most_common(256)]
	number = {name: index for index, name in enumerate(palette)}

	def nearest(pixel: bytes) -> int:
		if pixel not in number:
			number[pixel] = min(range(len(palette)), key=lambda i: sum((a - b) ** 2 for a, b in zip(pixel, palette[i])))
		return number[pixel]

	pixels = b"".join(b"\0" + bytes(map(nearest, row)) for row in rows)
	smaller = (SIGNATURE + _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
		+ _chunk(b"PLTE", b"".join(palette)) + _chunk(b"IDAT", zlib.compress(pixels, 9)) + _chunk(b"IEND", b""))
	return min(data, smaller, key=len)
