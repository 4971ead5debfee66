"""What happened, without a format: who sent what over which path, and what became of it.

Two hosts with a port on each of four planes, two uplinks on each plane; host A writes to host B over two
queue pairs. Some packets are lost at a T1, some trimmed there, some sent again without need.

  A --0--> T0 --1--> T1 --2--> T0 --3--> B        the number is how many switches were passed
"""

import dataclasses

PLANES, UPLINKS = 4, 2
HOP_NS, INTERVAL_NS = 700, 400
PAYLOAD = 256
FIRST_PSN = (0xFFFFF0, 0xFFFFF8)  # of the two flows: both wrap, and their numbers overlap
PACKETS = (64, 40)
LOST, TRIMMED, NEEDLESS = (9, 22, 30), (14, 27), (18,)  # of the first flow; of the second:
LOST2, TRIMMED2, NEEDLESS2 = (7,), (), (12, 20)
SACK_EVERY = 4
RETRY_NS = 20_000


@dataclasses.dataclass
class Packet:
    """One attempt of a write, or an answer; `left` at its sender, in ns."""
    flow: int
    psn: int
    plane: int
    uplink: int
    left: int
    kind: str = "data"  # or "sack", "nack", "ack"
    again: bool = False
    trimmed: bool = False
    marked: bool = False
    reaches: int = 4  # places 0 to 3 of its way; 4: all of them
    answers: "Packet" = None
    cumulative: int = 0
    bitmap: int = 0

    def at(self, place):
        """When it is at that place; None if it was lost before."""
        return None if place >= self.reaches else self.left + place * HOP_NS + self.uplink * 10

    @property
    def timestamp(self):
        return (self.left // 128 + 1) & 0xFFFF

    @property
    def is_data(self):
        return self.kind == "data"


class Story:
    """All packets of both directions, in order of time, and what they amount to."""

    def __init__(self):
        self.packets = []
        for flow, count in enumerate(PACKETS):
            self._write(flow, count)
        self.packets.sort(key=lambda p: p.left)
        for flow in range(len(PACKETS)):
            self._answer(flow)
        self.packets.sort(key=lambda p: p.left)

    def _write(self, flow, count):
        lost, trimmed, needless = ((LOST, TRIMMED, NEEDLESS), (LOST2, TRIMMED2, NEEDLESS2))[flow]
        for i in range(count):
            turn = i + 3 * flow
            packet = Packet(flow, (FIRST_PSN[flow] + i) & 0xFFFFFF, turn % PLANES,
                            turn // PLANES % UPLINKS, 1000 + INTERVAL_NS * i + 150 * flow)
            packet.marked = i % 11 == 5 and i not in trimmed + lost
            packet.trimmed = i in trimmed
            packet.reaches = 2 if i in lost else 4
            self.packets.append(packet)
            if i in lost + trimmed + needless:
                self.packets.append(dataclasses.replace(
                    packet, plane=(packet.plane + 1) % PLANES, uplink=1 - packet.uplink,
                    left=packet.left + RETRY_NS, again=True, trimmed=False, marked=False, reaches=4))

    def _answer(self, flow):
        """SACKs to every few packets, and to those marked or sent again; a NACK to a trimmed one."""
        arrived, cumulative, since, answers = set(), (FIRST_PSN[flow] - 1) & 0xFFFFFF, 0, []
        arriving = [p for p in self.packets if p.flow == flow and p.is_data and p.at(3) is not None]
        for packet in sorted(arriving, key=lambda p: p.at(3)):
            reply = dict(flow=flow, plane=packet.plane, uplink=packet.uplink, left=packet.at(3) + 50,
                         answers=packet)
            if packet.trimmed:
                answers.append(Packet(psn=packet.psn, kind="nack", **reply))
                continue
            arrived.add(packet.psn)
            while (cumulative + 1) & 0xFFFFFF in arrived:
                cumulative = (cumulative + 1) & 0xFFFFFF
            since += 1
            if since < SACK_EVERY and not packet.marked and not packet.again:
                continue
            since = 0
            bitmap = sum(1 << i for i in range(64) if (cumulative + 1 + i) & 0xFFFFFF in arrived)
            answers.append(Packet(psn=cumulative, kind="sack", cumulative=cumulative, bitmap=bitmap,
                                  **reply))
        last = max(answers, key=lambda p: p.left)
        answers.append(Packet(flow, cumulative, last.plane, last.uplink, last.left + 300, "ack",
                              answers=last.answers, cumulative=cumulative))
        self.packets += answers

    def data(self, flow=None):
        return [p for p in self.packets if p.is_data and flow in (None, p.flow)]

    def count(self, test):
        return sum(1 for p in self.packets if test(p))
