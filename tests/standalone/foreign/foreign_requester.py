"""A requester of somebody else's against the program as responder: what it must answer, byte by byte."""

import struct
import time

import mrc_headers as mrc
from channel import PMTU, QPN, Channel
from wire import ENDPOINT_QPN, PLANES, Complaint, marked, trimmed

PSN_MASK = 0xFF_FFFF
FIRST_PSN = 0xFF_FFFA  # it wraps in the second message
MESSAGE = 3 * PMTU + 101  # FIRST, MIDDLE, MIDDLE, LAST with three bytes of pad
PACKETS = 4
PATIENCE_S = 20


def pattern(size):
    """What mrc-endpoint's bandwidth test writes and looks for."""
    return bytes((i * 31 + 1) & 0xFF for i in range(size))


class Requester:
    """Its own numbering, its own entropy values, and what it knows the responder must have by now."""

    def __init__(self, wire, pair, entropy):
        self.wire, self.pair, self.entropy = wire, pair, entropy
        self.payload = pattern(MESSAGE)
        self.got = set()  # packet numbers from 0
        self.received = 0
        self.sent = 0

    # What the responder holds.

    def cumulative(self):
        """Number of the last packet before the first hole."""
        number = 0
        while number in self.got:
            number += 1
        return number - 1

    @staticmethod
    def psn(number):
        return (FIRST_PSN + number) & PSN_MASK

    def messages_done(self):
        return (self.cumulative() + 1) // PACKETS

    # What is sent.

    def write(self, number, again=False, ask=False, immediate=None):
        """(plane, source port, flow label, timestamp, frame) of packet `number`."""
        message, place = divmod(number, PACKETS)
        last = place == PACKETS - 1
        opcode = (mrc.WRITE_FIRST if place == 0 else mrc.WRITE_MIDDLE if not last else
                  mrc.WRITE_LAST if immediate is None else mrc.WRITE_LAST_IMMEDIATE)
        payload = self.payload[place * PMTU:(place + 1) * PMTU]
        pad = -len(payload) % 4
        self.sent += 1
        stamp = (0x4000 + 77 * self.sent) & 0xFFFF
        headers = (mrc.Bth(opcode=opcode, pad=pad, queue_pair=self.pair["qpn"], psn=self.psn(number),
                           ack_request=int(ask), again=int(again), timestamped=1) /
                   mrc.Meth(rqmsn=0 if immediate is None else 1, msn=message) /
                   mrc.Tseth(timestamp=stamp) /
                   mrc.Reth(address=self.pair["va"] + place * PMTU, key=self.pair["rkey"], length=MESSAGE))
        behind = bytes(headers) + (b"" if immediate is None else struct.pack(">I", immediate))
        behind += payload + bytes(pad)
        plane = self.sent % PLANES
        port, label = self.entropy(plane, self.sent)
        dscp = self.wire.dscps["trimmable_retx" if again else "trimmable"]
        return plane, port, label, stamp, self.wire.frame(plane, port, label, dscp, mrc.ECT0, behind)

    def deliver(self, number, change=None, **how):
        """Sends it whole; returns what a SACK of it reflects."""
        plane, port, label, stamp, frame = self.write(number, **how)
        self.wire.send(plane, change(frame) if change else frame)
        if number not in self.got:
            self.got.add(number)
            self.received += min(PMTU, MESSAGE - number % PACKETS * PMTU)
        return (label & 0xFFFF) << 16 | port, stamp

    # What must come back.

    def sack(self, number, reflected, mark=0, probe=None):
        entropy, stamp = reflected
        cumulative = self.cumulative()
        bitmap = sum(1 << n - cumulative - 1 for n in self.got if n > cumulative)
        fields = {"mark": mark, "entropy": entropy, "cumulative": self.psn(cumulative), "bitmap_offset": 1,
                  "bitmap": bitmap, "timestamp": stamp, "out_of_order": bin(bitmap).count("1"),
                  "received": (self.received + 255) // 256, "mpr": 0}
        if probe is None:
            fields["trigger_offset"] = number - cumulative
        else:
            fields |= {"probe": 1, "trigger_offset": probe}
        bth = mrc.Bth(opcode=mrc.SACK, queue_pair=QPN, psn=self.psn(cumulative))
        return "SACK", mrc.SACK, bytes(bth / mrc.Seth(**fields))

    def ack(self):
        cumulative = self.cumulative()
        bth = mrc.Bth(opcode=mrc.ACKNOWLEDGE, queue_pair=QPN, psn=self.psn(cumulative))
        return "ACK", mrc.ACKNOWLEDGE, bytes(bth) + struct.pack(">I", 0x1F << 24 | self.messages_done())

    def nack(self, number, reflected, reason):
        entropy, stamp = reflected
        bth = mrc.Bth(opcode=mrc.NACK, queue_pair=QPN, psn=self.psn(number))
        return "NACK", mrc.NACK, bytes(bth / mrc.Neth(reason=reason, entropy=entropy, psn=self.psn(number),
                                                      timestamp=stamp))

    def answer_probe(self, came):
        """The program tries ways back of its own: compared as well, and answered."""
        stamp = came.number(12, 2)
        bth = mrc.Bth(opcode=mrc.ENDPOINT_REQUEST, queue_pair=ENDPOINT_QPN, psn=came.psn)
        erth = mrc.Erth(op=1, ports=(1 << PLANES) - 1, timestamp=stamp)
        self.wire.compare(came, self.wire.dscps["control"], 0, bytes(bth / erth), "EV probe")
        reply = mrc.Bth(opcode=mrc.ENDPOINT_RESPONSE, queue_pair=ENDPOINT_QPN, psn=came.psn)
        self.wire.send(came.plane, self.wire.frame(
            came.plane, *self.entropy(came.plane, 0), self.wire.dscps["control"], 0,
            bytes(reply / mrc.Eeth(op=1, timestamp=stamp))))

    def expect(self, what, *wanted):
        """Exactly these come, in any order: planes do not wait for each other."""
        wanted = list(wanted)
        end = time.monotonic() + PATIENCE_S
        while wanted:
            came = self.wire.receive(max(end - time.monotonic(), 0))
            if came is None:
                raise Complaint(f"{what}: no {' and '.join(name for name, _, _ in wanted)}")
            if came.opcode == mrc.ENDPOINT_REQUEST:
                self.answer_probe(came)
                continue
            match = next((w for w in wanted if w[1] == came.opcode), None)
            if match is None:
                raise Complaint(f"{what}: something else came: {came.data.hex()}")
            wanted.remove(match)
            self.wire.compare(came, self.wire.dscps["control"], 0, match[2], f"{what}: {match[0]}")


def play(requester):
    """The story. Each step leaves the responder with everything before it."""
    r = requester
    for n in range(3):
        r.deliver(n)
    seen = r.deliver(3, ask=True)
    r.expect("a message in order", r.sack(3, seen), r.ack())

    seen = r.deliver(7, ask=True)
    r.expect("its last packet first", r.sack(7, seen))
    seen = r.deliver(5, ask=True)
    r.expect("then one in the middle", r.sack(5, seen))
    r.deliver(4)
    seen = r.deliver(6, ask=True)
    r.expect("then the rest", r.sack(6, seen), r.ack())

    dscps = r.wire.dscps
    for dscp, reason in ((dscps["trimmed"], 1), (dscps["trimmed_last_hop"], 2), (63, 1)):
        plane, port, label, stamp, frame = r.write(8)
        r.wire.send(plane, trimmed(frame, dscp))
        r.expect(f"trimmed, DSCP {dscp}", r.nack(8, ((label & 0xFFFF) << 16 | port, stamp), reason))
    seen = r.deliver(8, again=True)
    r.expect("sent again", r.sack(8, seen))

    r.deliver(10)
    plane, port, label, _, _ = r.write(9)  # lost
    stamp = 0xBEEF
    probe = mrc.Bth(opcode=mrc.PROBE, queue_pair=r.pair["qpn"]) / mrc.Peth(probe_id=0x5A5A, timestamp=stamp)
    r.wire.send(plane, r.wire.frame(plane, port, label, dscps["no_trim"], mrc.ECT0, bytes(probe)))
    r.expect("a probe over a hole", r.sack(0, ((label & 0xFFFF) << 16 | port, stamp), probe=0x5A5A), r.ack())
    seen = r.deliver(9, again=True)
    r.expect("the lost one again", r.sack(9, seen))
    seen = r.deliver(11, change=marked)
    r.expect("with a congestion mark", r.sack(11, seen, mark=1), r.ack())

    seen = r.deliver(11)
    r.expect("a duplicate", r.sack(11, seen), r.ack())
    plane, port, label, stamp, frame = r.write(11 + 5000)
    r.wire.send(plane, frame)
    r.expect("beyond the window", r.nack(11 + 5000, ((label & 0xFFFF) << 16 | port, stamp), 0x0B))

    for op in (1, 0):
        request = (mrc.Bth(opcode=mrc.ENDPOINT_REQUEST, queue_pair=ENDPOINT_QPN, psn=0x1234 + op) /
                   mrc.Erth(op=op, ports=3, timestamp=0x7777))
        r.wire.send(0, r.wire.frame(0, *r.entropy(0, 1), dscps["control"], 0, bytes(request)))
        bth = mrc.Bth(opcode=mrc.ENDPOINT_RESPONSE, queue_pair=ENDPOINT_QPN, psn=0x1234 + op)
        r.expect("an endpoint request", ("EETH", mrc.ENDPOINT_RESPONSE,
                                         bytes(bth / mrc.Eeth(op=op, timestamp=0x7777))))

    for n in range(12, 15):
        r.deliver(n)
    seen = r.deliver(15, ask=True, immediate=0x0102_0304)
    r.expect("a write with immediate", r.sack(15, seen), r.ack())


MESSAGES = 4


def run(wire, port, entropy):
    """Against a server that is being started. Ends with its verdict over the memory still to come."""
    channel = Channel.connect(port)
    pair = channel.introduce(FIRST_PSN, MESSAGE)
    channel.meet("bandwidth")
    play(Requester(wire, pair, entropy))
    channel.meet("done")
    channel.close()
