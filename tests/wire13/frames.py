"""Reads header frames by a schema of FlatBuffers, knowing nothing of the code that wrote them.

Enough of FlatBuffers for schemas/wire.fbs: tables, structs, enumerations, one union, texts and lists. What is absent, 0,
false or empty is left out, as a struct of which all is 0 is not: it says that something is there.
"""

import pathlib
import re
import struct

SCALARS = {"bool": "?", "ubyte": "B", "uint32": "I", "uint64": "Q", "float32": "f", "float64": "d"}


class Schema:
    """Names of types and fields, and where a struct's fields lie."""

    def __init__(self, file):
        text = re.sub(r"//.*", "", pathlib.Path(file).read_text())
        self.enums, self.structs, self.tables, self.union = {}, {}, {}, []
        for kind, name, body in re.findall(r"\b(enum|struct|table|union)\s+(\w+)[^{;]*\{([^}]*)\}", text):
            if kind in ("enum", "union"):
                words = [word.strip() for word in body.split(",") if word.strip()]
                if kind == "enum":
                    self.enums[name] = words
                else:
                    self.union = words
            else:
                fields = re.findall(r"(\w+)\s*:\s*(\[?\w+\]?)(?:\s*=\s*(\w+))?\s*;", body)
                (self.structs if kind == "struct" else self.tables)[name] = fields

    def format_of(self, kind):
        return SCALARS["ubyte" if kind in self.enums else kind]

    def size_and_alignment(self, kind):
        if kind not in self.structs:
            size = struct.calcsize("<" + self.format_of(kind))
            return size, size
        at = 0
        largest = 1
        for _, field, _ in self.structs[kind]:
            size, alignment = self.size_and_alignment(field)
            at = -(-at // alignment) * alignment + size
            largest = max(largest, alignment)
        return -(-at // largest) * largest, largest


class Frame:
    """One header frame."""

    def __init__(self, schema, data):
        self.schema = schema
        self.data = data
        self.envelope = self._offset(0)
        self.version = self._scalar("uint32", self._field(self.envelope, 0))
        self.kind = schema.union[self.data[self._field(self.envelope, 1)] - 1]

    def lines(self):
        """`path = value` of all that it holds, in the schema's order."""
        out = []
        self._table(self.kind, self._offset(self._field(self.envelope, 2)), self.kind, out)
        return out

    def of_version(self, version):
        """The frame's bytes with another version's number."""
        data = bytearray(self.data)
        struct.pack_into("<I", data, self._field(self.envelope, 0), version)
        return bytes(data)

    def with_word(self, field, word):
        """The frame's bytes with another word of an enumeration, in a field of the message that is there."""
        names = [name for name, _, _ in self.schema.tables[self.kind]]
        kind = self.schema.tables[self.kind][names.index(field)][1]
        data = bytearray(self.data)
        data[self._field(self._offset(self._field(self.envelope, 2)), names.index(field))] = self.schema.enums[kind].index(word)
        return bytes(data)

    def _unpack(self, form, at):
        return struct.unpack_from("<" + form, self.data, at)[0]

    def _offset(self, at):
        return at + self._unpack("I", at)

    def _field(self, table, index):
        """Where a table's field lies; None if it is absent."""
        vtable = table - self._unpack("i", table)
        at = 4 + 2 * index
        place = self._unpack("H", vtable + at) if at < self._unpack("H", vtable) else 0
        return table + place if place else None

    def _scalar(self, kind, at):
        value = self._unpack(self.schema.format_of(kind), at)
        return self.schema.enums[kind][value] if kind in self.schema.enums else value

    def _table(self, name, at, path, out):
        for index, (field, kind, default) in enumerate(self.schema.tables[name]):
            place = self._field(at, index)
            if place is not None:
                self._value(kind, place, f"{path}.{field}", out, default)

    def _value(self, kind, at, path, out, default=None):
        if kind.startswith("["):
            self._list(kind[1:-1], self._offset(at), path, out)
        elif kind == "string":
            start = self._offset(at)
            length = self._unpack("I", start)
            out.append(f"{path} = {quoted(self.data[start + 4:start + 4 + length].decode())}")
        elif kind in self.schema.tables:
            self._table(kind, self._offset(at), path, out)
        elif kind in self.schema.structs:
            self._struct(kind, at, path, out)
        else:
            value = self._scalar(kind, at)
            if str(value) != (default or str(self.schema.enums[kind][0] if kind in self.schema.enums else 0)):
                out.append(f"{path} = {text_of(value)}")

    def _struct(self, name, at, path, out):
        out.append(f"{path} is there")
        place = at
        for field, kind, _ in self.schema.structs[name]:
            size, alignment = self.schema.size_and_alignment(kind)
            place = at + -(-(place - at) // alignment) * alignment
            if kind in self.schema.structs:
                self._struct(kind, place, f"{path}.{field}", out)
            else:
                value = self._scalar(kind, place)
                if value not in (0, False) and value != self.schema.enums.get(kind, [None])[0]:
                    out.append(f"{path}.{field} = {text_of(value)}")
            place += size

    def _list(self, kind, at, path, out):
        for i in range(self._unpack("I", at)):
            first = at + 4
            if kind in self.schema.structs:
                self._struct(kind, first + i * self.schema.size_and_alignment(kind)[0], f"{path}[{i}]", out)
            elif kind in self.schema.tables or kind == "string":
                entry = f"{path}[{i}]"
                out.append(f"{entry} is there")
                self._value(kind, first + 4 * i, entry, out)
            else:
                size = struct.calcsize("<" + self.schema.format_of(kind))
                out.append(f"{path}[{i}] = {text_of(self._scalar(kind, first + i * size))}")


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"') + '"'


def text_of(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):  # as printf("%a")
        return re.sub(r"\.?0*p", "p", value.hex())
    return str(value)


def read_all(file):
    """The frames of a file that holds one after the other, each with its size before it."""
    data = pathlib.Path(file).read_bytes()
    frames = []
    at = 0
    while at < len(data):
        size = struct.unpack_from("<I", data, at)[0]
        frames.append(data[at + 4:at + 4 + size])
        at += 4 + size
    return frames
