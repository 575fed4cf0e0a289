"""Raw traces (`ballast trace --raw`) packed for being kept, without a loss: about half of what xz makes of them.

A file is xz of: the length of a head in JSON, four bytes; the head, which is all but the records; then, for each process, the
kind of each record, a byte each, and, for each kind, column after column, each value as a varint of what it differs by from what
one would expect: from the record before it, from another stamp of its own, or from the record of another process that has the
same stamp."""

import json
import lzma

KINDS = ("fetch", "weights", "slot", "push", "pull", "contribution", "update", "reply", "snapshot", "journal", "work", "decision",
         "link", "line")
STEP, PEER, FIRST, SECOND, THIRD, FOURTH, CHUNK, BEGIN, END = range(1, 10)  # of a record, after its kind
# By kind: stamps of the same clock as another one of the same record, which comes before it.
BESIDE = {"fetch": {SECOND: FIRST}, "weights": {SECOND: FIRST}, "slot": {SECOND: FIRST, THIRD: SECOND, FOURTH: THIRD},
          "push": {SECOND: FIRST, THIRD: SECOND}, "pull": {FOURTH: THIRD}, "contribution": {THIRD: SECOND, FOURTH: SECOND},
          "update": {SECOND: FIRST, THIRD: SECOND}, "reply": {SECOND: FIRST}, "snapshot": {SECOND: FIRST}, "journal": {SECOND: FIRST},
          "work": {SECOND: FIRST}, "decision": {SECOND: FIRST}}
# Those that another process has written as well, when it handed the message to the transport.
SAME = {"contribution": FIRST, "pull": SECOND}
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0}]


def _columns(kind):
    """In the order in which they are written: each after those that it is told by."""
    return [STEP, PEER, CHUNK, BEGIN, END] + sorted((FIRST, SECOND, THIRD, FOURTH), key=lambda column: column == SAME.get(kind))


class _Sent:
    """When messages were handed to the transport, by what tells one from all others."""

    def __init__(self, processes):
        lanes = [process for process in processes if process["role"] == "lane"]
        self._number_of = {id(lane): number for number, lane in enumerate(lanes)}
        self._known = {}

    def add(self, process, kind, record):
        if kind == "push":
            self._known["contribution", process["session"], record[PEER], record[STEP], record[CHUNK], *record[BEGIN:]] = record[SECOND]
        elif kind == "reply":
            self._known["pull", self._number_of[id(process)], record[PEER], record[STEP], record[CHUNK]] = record[FIRST]

    def of(self, process, kind, record):
        """None: nobody has written it."""
        if kind == "contribution":
            return self._known.get((kind, record[PEER], self._number_of[id(process)], record[STEP], record[CHUNK], *record[BEGIN:]))
        return self._known.get((kind, record[PEER], process["session"], record[STEP], record[CHUNK]))


def _expected(kind, column, record, before, sent):
    """What the value may be."""
    if column == SAME.get(kind) and sent is not None:
        return sent
    beside = BESIDE.get(kind, {}).get(column)
    return record[beside] if beside else before[column]


def _order(processes):
    """Those with what others have written as well come last: (process, kind), all of them."""
    return [(process, kind) for later in (False, True) for process in processes for kind in KINDS if (kind in SAME) == later]


def _put(values, out):
    for value in values:
        rest = value * 2 if value >= 0 else -value * 2 - 1
        while rest >= 128:
            out.append(rest & 127 | 128)
            rest >>= 7
        out.append(rest)


def pack(trace):
    """Bytes of what json.load() has made of a raw trace."""
    processes = trace["processes"]
    head = {**trace, "processes": [{key: value for key, value in process.items() if key != "records"} for process in processes]}
    sent = _Sent(processes)
    text = json.dumps(head).encode()
    out = bytearray(len(text).to_bytes(4, "little") + text)
    for process in processes:
        _put([len(process["records"])], out)
        out.extend(KINDS.index(record[0]) for record in process["records"])
    for process, kind in _order(processes):
        records = [record for record in process["records"] if record[0] == kind]
        for record in records:
            sent.add(process, kind, record)
        known = [sent.of(process, kind, record) if kind in SAME else None for record in records]
        befores = [[0] * 10] + records
        for column in _columns(kind):
            _put([record[column] - _expected(kind, column, record, before, same)
                  for record, before, same in zip(records, befores, known)], out)
    return lzma.compress(bytes(out), format=lzma.FORMAT_XZ, filters=_FILTERS)


class _Reader:
    def __init__(self, data):
        self._data = data
        self._at = 0

    def take(self, count):
        self._at += count
        return self._data[self._at - count:self._at]

    def number(self):
        value = shift = 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value >> 1 if value % 2 == 0 else -(value + 1 >> 1)
            shift += 7


def unpack(data):
    """What pack() was given."""
    reader = _Reader(lzma.decompress(data))
    trace = json.loads(reader.take(int.from_bytes(reader.take(4), "little")))
    processes = trace["processes"]
    for process in processes:
        process["records"] = [[KINDS[kind]] + [0] * 9 for kind in reader.take(reader.number())]
    sent = _Sent(processes)
    for process, kind in _order(processes):
        records = [record for record in process["records"] if record[0] == kind]
        befores = [[0] * 10] + records
        known = [None] * len(records)
        for column in _columns(kind):
            if column == SAME.get(kind):
                known = [sent.of(process, kind, record) for record in records]
            for record, before, same in zip(records, befores, known):
                record[column] = reader.number() + _expected(kind, column, record, before, same)
        for record in records:
            sent.add(process, kind, record)
    return trace
