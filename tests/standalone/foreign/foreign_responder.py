"""A responder of somebody else's against the program as requester: what it sends, byte by byte, and what
it makes of answers about packets that were trimmed or lost."""

import struct
import time

import mrc_headers as mrc
from channel import KEY, PMTU, QPN, VA, Channel
from foreign_requester import MESSAGE, PACKETS, PATIENCE_S, PSN_MASK, pattern
from wire import ENDPOINT_QPN, Complaint

MESSAGES = 6
TRIMMED, LOST = 5, 9  # packet numbers from 0
UNKNOWN_ENTROPY = 0x1234_5678


class Responder:
    def __init__(self, wire, pair, entropy_of_plane):
        self.wire, self.pair, self.entropy_of_plane = wire, pair, entropy_of_plane
        self.payload = pattern(MESSAGE)
        self.count = MESSAGES * PACKETS
        self.first, self.again = {}, {}  # by number: what came, and what came again
        self.msn = None
        self.got = set()

    def psn(self, number):
        return (self.pair["psn"] + number) & PSN_MASK

    def number_of(self, came):
        return (came.psn - self.pair["psn"]) & PSN_MASK

    # What comes.

    def check_write(self, came):
        number = self.number_of(came)
        message, place = divmod(number, PACKETS)
        last = place == PACKETS - 1
        immediate = last and message == MESSAGES - 1
        opcode = (mrc.WRITE_FIRST if place == 0 else mrc.WRITE_MIDDLE if not last else
                  mrc.WRITE_LAST_IMMEDIATE if immediate else mrc.WRITE_LAST)
        payload = self.payload[place * PMTU:(place + 1) * PMTU]
        pad = -len(payload) % 4
        headers = (mrc.Bth(opcode=opcode, pad=pad, queue_pair=QPN, psn=came.psn,
                           ack_request=int(came.ack_request), again=int(came.again), timestamped=1) /
                   # RQMSN counts messages with immediate, and stands in every packet of one.
                   mrc.Meth(rqmsn=int(message == MESSAGES - 1), msn=self.first_msn(came, number) + message) /
                   mrc.Tseth(timestamp=came.number(4, 2)) /
                   mrc.Reth(address=VA + place * PMTU, key=KEY, length=MESSAGE))
        behind = bytes(headers) + (struct.pack(">I", 0) if immediate else b"") + payload + bytes(pad)
        dscp = self.wire.dscps["trimmable_retx" if came.again else "trimmable"]
        self.wire.compare(came, dscp, mrc.ECT0, behind, f"write {number}{' again' if came.again else ''}")
        wanted = self.entropy_of_plane(came.plane)
        if (came.source_port, came.flow_label) != wanted:
            raise Complaint(f"write {number}: source port and label {came.source_port:x} "
                            f"{came.flow_label:x} on plane {came.plane}")
        if came.again and number in self.again:
            raise Complaint(f"write {number} came a third time")
        (self.again if came.again else self.first)[number] = came
        if not came.again and number not in (TRIMMED, LOST):
            self.got.add(number)

    def first_msn(self, came, number):
        """Message numbers count up from anywhere: no source says where they start."""
        if self.msn is None:
            self.msn = came.number(2, 2) - number // PACKETS
        return self.msn

    def check_probe(self, came):
        """A reliability probe: answered with all that is there."""
        probe_id, stamp = came.number(4, 2), came.number(12, 2)
        bth = mrc.Bth(opcode=mrc.PROBE, queue_pair=QPN, psn=came.psn)
        self.wire.compare(came, self.wire.dscps["no_trim"], mrc.ECT0,
                          bytes(bth / mrc.Peth(probe_id=probe_id, timestamp=stamp)), "probe")
        self.answer(mrc.SACK, self.seth(0, came.entropy, stamp, probe=probe_id), came.plane)

    def check_endpoint_request(self, came):
        """It asks which ports are up, or whether a way back works."""
        op = came.number(1, 1) & 3
        stamp = came.number(12, 2)
        bth = mrc.Bth(opcode=mrc.ENDPOINT_REQUEST, queue_pair=ENDPOINT_QPN, psn=came.psn)
        self.wire.compare(came, self.wire.dscps["control"], 0,
                          bytes(bth / mrc.Erth(op=op, ports=3, timestamp=stamp)), "endpoint request")
        reply = mrc.Bth(opcode=mrc.ENDPOINT_RESPONSE, queue_pair=ENDPOINT_QPN, psn=came.psn)
        self.send(bytes(reply / mrc.Eeth(op=op, timestamp=stamp)), came.plane)

    def take_until(self, done, what):
        end = time.monotonic() + PATIENCE_S
        while not done():
            came = self.wire.receive(max(end - time.monotonic(), 0))
            if came is None:
                raise Complaint(f"{what} never came; so far {sorted(self.first)}, again {sorted(self.again)}")
            if came.opcode == mrc.PROBE:
                self.check_probe(came)
            elif came.opcode == mrc.ENDPOINT_REQUEST:
                self.check_endpoint_request(came)
            else:
                self.check_write(came)

    # What goes back.

    def send(self, behind, plane):
        """On entropy values that nobody but their sender can read."""
        self.wire.send(plane, self.wire.frame(plane, 0x0302 + plane, 0xF_1234, self.wire.dscps["control"], 0,
                                              behind))

    def answer(self, opcode, rest, plane=0, psn=None):
        psn = self.psn(self.cumulative()) if psn is None else psn
        self.send(bytes(mrc.Bth(opcode=opcode, queue_pair=self.pair["qpn"], psn=psn)) + rest, plane)

    def cumulative(self):
        number = 0
        while number in self.got:
            number += 1
        return number - 1

    def seth(self, trigger, entropy, stamp, mark=0, probe=None):
        cumulative = self.cumulative()
        bitmap = sum(1 << n - cumulative - 1 for n in self.got if cumulative < n <= cumulative + 64)
        more = {"trigger_offset": trigger - cumulative} if probe is None else {"probe": 1, "trigger_offset": (
            probe ^ 0x8000) - 0x8000}
        received = sum(min(PMTU, MESSAGE - n % PACKETS * PMTU) for n in self.got)
        # What is ours to choose is not zero: connection ids, type and next header.
        return bytes(mrc.Seth(kind=3, next=9, mark=mark, entropy=entropy, spdcid=0x1111, dpdcid=0x2222,
                              cumulative=self.psn(cumulative), bitmap_offset=1, bitmap=bitmap,
                              timestamp=stamp, out_of_order=bin(bitmap).count("1"),
                              received=(received + 255) // 256, **more))

    def sack(self, number, entropy=None, **more):
        came = self.again.get(number) or self.first[number]
        self.answer(mrc.SACK, self.seth(number, came.entropy if entropy is None else entropy,
                                        came.number(4, 2), **more))

    def trim(self, number):
        came = self.first[number]
        self.answer(mrc.NACK, bytes(mrc.Neth(kind=3, next=9, spdcid=0x1111, dpdcid=0x2222, reason=1,
                                             entropy=came.entropy, psn=came.psn,
                                             timestamp=came.number(4, 2))), psn=came.psn)


def swapped(entropy):
    return (entropy << 16 | entropy >> 16) & 0xFFFF_FFFF


def play(r, understands_swapped):
    r.take_until(lambda: len(r.first) == r.count, "every packet once")
    r.trim(TRIMMED)
    r.take_until(lambda: TRIMMED in r.again, "the trimmed packet again")
    if r.again[TRIMMED].plane == r.first[TRIMMED].plane:
        raise Complaint("the trimmed packet came again on the path that had trimmed it")
    r.sack(4, entropy=UNKNOWN_ENTROPY)  # refused: whose path is it?
    r.sack(4)
    r.answer(mrc.ACKNOWLEDGE, struct.pack(">I", 0x1F << 24 | 1), psn=r.psn(PACKETS - 1))
    newest = r.first[r.count - 1].entropy
    r.sack(r.count - 1, entropy=swapped(newest) if understands_swapped else newest, mark=1)
    # Nothing more of the hole: it has to ask, unless something that it sent much later has arrived.
    r.got.add(TRIMMED)
    r.take_until(lambda: LOST in r.again, "the lost packet again")
    if set(r.again) != {TRIMMED, LOST}:
        raise Complaint(f"came again for nothing: {sorted(set(r.again) - {TRIMMED, LOST})}")
    r.got.add(LOST)
    r.sack(LOST)
    r.answer(mrc.ACKNOWLEDGE, struct.pack(">I", 0x1F << 24 | MESSAGES))


def run(wire, listener, entropy_of_plane, understands_swapped):
    """Against a client that is being started."""
    channel = Channel.accept(listener)
    pair = channel.introduce(0x123456, MESSAGE)
    channel.meet("bandwidth")
    responder = Responder(wire, pair, entropy_of_plane)
    play(responder, understands_swapped)
    channel.meet("done")
    channel.close()
