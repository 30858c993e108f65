# SPDX-License-Identifier: GPL-2.0
"""The node's transfers, and the remotes that take them: one loop, of one program.

A program takes no time in the virtual-time machine, so neither end waits for the other.
Each transfer is a connection: the node sends, closes its half, and the transfer has ended
when the remote, which has read it all, closes its own.  What was sent again is the
kernel's count (TCP_INFO).
"""

import heapq
import selectors
import socket
import struct
import time

PORT = 5201
CHUNK = 256 << 10       # bytes of one write
# Bytes that wake a remote's program: to be woken by each frame is what a virtual-time machine
# spends its time on
LOWAT = 32 << 10
SO_RCVLOWAT = 18
TOTAL_RETRANS, BYTES_ACKED = 100, 120   # offsets in struct tcp_info
LISTEN = 8
EVERY = 60              # s between two looks at all counters


def counted(sock):
    """(bytes acknowledged, segments sent again) of a connection"""
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
    return (struct.unpack_from("=Q", info, BYTES_ACKED)[0],
            struct.unpack_from("=I", info, TOTAL_RETRANS)[0])


def listener(port=PORT, address=""):
    """In this namespace"""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVLOWAT, LOWAT)  # inherited by what it accepts
    sock.bind((address, port))
    sock.listen(LISTEN)
    sock.setblocking(False)
    return sock


class Transfer:
    """One connection of the node's"""

    def __init__(self, number, address, size, now):
        self.number, self.size, self.began = number, size, now
        self.left = size
        self.sock = socket.socket()
        self.sock.setblocking(False)
        self.sock.connect_ex((address, PORT))

    def write(self):
        """What the socket takes; whether that was the last of it"""
        try:
            self.left -= self.sock.send(bytes(min(self.left, CHUNK)))
        except BlockingIOError:
            return False
        if not self.left:
            self.sock.shutdown(socket.SHUT_WR)
        return not self.left


class Node:
    """All transfers: @remotes: {number: (address, iterator of (pause, bytes))}"""

    def __init__(self, remotes, listeners, seconds):
        self.remotes, self.seconds = remotes, seconds
        self.loop = selectors.DefaultSelector()
        for sock in listeners:
            self.loop.register(sock, selectors.EVENT_READ, self.accept)
        self.due = []           # (s, number, bytes)
        self.active = {}        # number: Transfer
        self.ended = []         # [number, s, how long, bytes, segments sent again]
        self.series = []        # [s, bytes acknowledged, segments sent again]
        self.began = time.monotonic()

    def now(self):
        """s"""
        return time.monotonic() - self.began

    def plan_next(self, number, now):
        """The remote's next transfer"""
        pause, size = next(self.remotes[number][1])
        heapq.heappush(self.due, (now + pause, number, size))

    def accept(self, sock, _):
        """A remote's end of a transfer"""
        taken = sock.accept()[0]
        taken.setblocking(False)
        self.loop.register(taken, selectors.EVENT_READ, self.drain)

    def drain(self, sock, _):
        """What came, as far as it came"""
        try:
            if sock.recv(CHUNK):
                return
        except BlockingIOError:
            return
        self.loop.unregister(sock)
        sock.close()

    def begin(self, number, size, now):
        """A transfer"""
        one = Transfer(number, self.remotes[number][0], size, now)
        self.active[number] = one
        self.loop.register(one.sock, selectors.EVENT_WRITE,
                           lambda sock, mask: self.go_on(one, mask))

    def go_on(self, one, mask):
        """It may write, or has been closed by the remote"""
        if mask & selectors.EVENT_WRITE:
            if one.write():
                self.loop.modify(one.sock, selectors.EVENT_READ,
                                 self.loop.get_key(one.sock).data)
        elif not one.sock.recv(1):
            self.end(one)

    def end(self, one):
        """All of it has been read"""
        now = self.now()
        self.ended.append([one.number, one.began, now - one.began, one.size,
                           counted(one.sock)[1]])
        self.loop.unregister(one.sock)
        one.sock.close()
        del self.active[one.number]
        self.plan_next(one.number, now)

    def look(self):
        """All counters"""
        under_way = [counted(one.sock) for one in self.active.values()]
        self.series.append([self.now(),
                            sum(e[3] for e in self.ended) + sum(a for a, _ in under_way),
                            sum(e[4] for e in self.ended) + sum(r for _, r in under_way)])

    def begin_due(self):
        """Transfers whose time has come"""
        now = self.now()
        while self.due and self.due[0][0] <= now:
            _, number, size = heapq.heappop(self.due)
            self.begin(number, size, now)

    def go(self):
        """For so many seconds"""
        self.began = time.monotonic()
        for number in self.remotes:
            self.plan_next(number, 0)
        looks = [i * EVERY for i in range(round(self.seconds / EVERY), -1, -1)]
        while looks:
            until = min(looks[-1], self.due[0][0] if self.due else looks[-1])
            for key, mask in self.loop.select(max(0, until - self.now())):
                key.data(key.fileobj, mask)
            if self.now() >= looks[-1]:
                self.look()
                looks.pop()
            self.begin_due()

    def unfinished(self):
        """[number, s, how long so far, bytes acknowledged, segments sent again]"""
        now = self.now()
        return [[one.number, one.began, now - one.began, *counted(one.sock)]
                for one in self.active.values()]
