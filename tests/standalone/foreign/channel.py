"""The out-of-band channel of mrc-endpoint as its header says it: JSON, one object a line, over TCP."""

import json
import socket
import time

from wire import PLANES, STRANGER, Complaint, far, mac_of

PMTU = 1024
QPN = 0x2A0F1
VA, KEY = 0x7F00_1234_5000, 0xDEAD_0001  # of memory that the stranger only pretends to have


class Channel:
    def __init__(self, connection):
        self.connection = connection
        self.file = connection.makefile("r", encoding="ascii")

    @classmethod
    def connect(cls, port, limit=20):
        end = time.monotonic() + limit
        while True:
            try:
                return cls(socket.create_connection(("localhost", port), timeout=limit))
            except ConnectionRefusedError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    @classmethod
    def accept(cls, listener):
        connection, _ = listener.accept()
        connection.settimeout(20)
        return cls(connection)

    def close(self):
        self.file.close()
        self.connection.close()

    def send(self, value):
        self.connection.sendall((json.dumps(value) + "\n").encode("ascii"))

    def receive(self):
        line = self.file.readline()
        if not line:
            raise Complaint("the program has left")
        return json.loads(line)

    def meet(self, word):
        self.send({"state": word})
        said = self.receive()
        if said != {"state": word}:
            raise Complaint(f"it should say {word}, and says {said}")

    def introduce(self, psn, size):
        """Both ends tell who they are and of one queue pair. Returns what the program says of it."""
        macs = [mac_of(far(plane)) for plane in range(PLANES)]
        self.send({"mrc": 1, "address": STRANGER, "macs": macs, "pmtu": PMTU})
        self.receive()
        self.send({"qpn": QPN, "psn": psn, "va": VA, "rkey": KEY, "size": size,
                   "attributes": {"mpr": 8, "mpr_dest": 8, "max_wimm": 32, "max_wimm_dest": 32,
                                  "dynamic_mpr": False}})
        pair = self.receive()
        self.meet("ready")
        return pair
