"""Enough of ZMTP 3.0, ZeroMQ's protocol over TCP, to be a peer of Ballast that sends whatever bytes a test wants."""

import contextlib
import socket
import struct


def greeting(mechanism):
    return b"\xff" + 8 * b"\0" + b"\x7f\x03\x00" + mechanism.ljust(20, b"\0") + 32 * b"\0"


GREETING = greeting(b"NULL")
MORE, LONG, COMMAND = 1, 2, 4


def _property(name, value):
    return bytes([len(name)]) + name + struct.pack(">I", len(value)) + value


def _ready(kind, identity):
    body = b"\x05READY" + _property(b"Socket-Type", kind) + _property(b"Identity", identity)
    return bytes([COMMAND, len(body)]) + body


class Peer:
    """One connection, after the handshake."""

    def __init__(self, connection, kind, identity=b""):
        self.connection = connection
        connection.sendall(GREETING)
        self._exactly(len(GREETING))
        connection.sendall(_ready(kind, identity))
        flags, _ = self._frame()
        assert flags & COMMAND

    def close(self):
        self.connection.close()

    def send(self, *frames):
        for i, frame in enumerate(frames):
            more = MORE if i + 1 < len(frames) else 0
            size = bytes([more, len(frame)]) if len(frame) < 256 else bytes([more | LONG]) + struct.pack(">Q", len(frame))
            self.connection.sendall(size + frame)

    def receive(self):
        """The frames of the next message; None when the peer has gone."""
        frames = []
        while True:
            try:
                flags, frame = self._frame()
            except ConnectionError:
                return None
            if flags & COMMAND:
                continue
            frames.append(frame)
            if not flags & MORE:
                return frames

    def _frame(self):
        flags = self._exactly(1)[0]
        size = struct.unpack(">Q", self._exactly(8))[0] if flags & LONG else self._exactly(1)[0]
        return flags, self._exactly(size)

    def _exactly(self, size):
        data = b""
        while len(data) < size:
            more = self.connection.recv(size - len(data))
            if not more:
                raise ConnectionError("the peer has gone")
            data += more
        return data


@contextlib.contextmanager
def dealer(address, identity, patience):
    """A peer that connects to tcp://HOST:PORT or ipc://PATH by this name."""
    with connected(address, patience) as connection:
        yield Peer(connection, b"DEALER", identity)


def connected(address, patience):
    """A socket."""
    if address.startswith("tcp://"):
        host, port = address.removeprefix("tcp://").rsplit(":", 1)
        return socket.create_connection((host, int(port)), timeout=patience)
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(patience)
    try:
        connection.connect(address.removeprefix("ipc://"))
    except OSError:
        connection.close()
        raise
    return connection


class Router:
    """A peer that is connected to, by one at a time: answers each message by `answer(header frame)`, or not if it is None."""

    def __init__(self, answer, patience):
        self.answer = answer
        self.patience = patience
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(patience)
        self.address = f"tcp://127.0.0.1:{self.listener.getsockname()[1]}"
        self.heard = []

    def serve_one(self):
        """Until whoever connects has gone."""
        connection, _ = self.listener.accept()
        connection.settimeout(self.patience)
        with connection:
            try:
                peer = Peer(connection, b"ROUTER")
                while (frames := peer.receive()) is not None:
                    self.heard.append(frames)
                    answer = self.answer(frames[0])
                    if answer is not None:
                        peer.send(answer)
            except (ConnectionError, OSError):
                pass

    def close(self):
        self.listener.close()
