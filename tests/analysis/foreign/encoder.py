"""A story in somebody's format, as frames with all their headers, by scapy."""

import dataclasses
import ipaddress
import struct

import mrc_headers as mrc
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from story import PAYLOAD, PLANES

A, B = 0, 1
QUEUE_PAIRS = {"same": ((0x11, 0x11), (0x12, 0x12)),  # of each flow: A's own, B's own
               "different": ((0x2A001, 0x1B0F3), (0x2A002, 0x1B0F7))}


@dataclasses.dataclass(frozen=True)
class Format:
    """One implementation's habits."""
    block: str = "fc00:42::/32"  # "per plane": one for each
    usid_bits: int = 16
    entropy: str = "carrier"  # what names a path: see entropy_of
    queue_pairs: str = "different"
    port: int = 4791
    encapsulated: bool = True
    ip: int = 6
    ids: bool = True  # spdcid and dpdcid hold queue pair numbers
    timestamps: bool = True
    macs: bool = True
    hop_limits: bool = True  # switches count them down


def entropy_of(fmt, packet):
    """(source port, flow label, what an answer reflects)."""
    plane, uplink = packet.plane, packet.uplink
    value = plane << 8 | uplink + 1
    if fmt.entropy == "carrier":
        return 0, 0, 0
    if fmt.entropy == "port":
        return value, 0, value
    if fmt.entropy == "port, copied to the label":
        return value, value, value
    if fmt.entropy == "structured":  # plane to the port, uplink to the label, as one number
        return plane + 1, uplink + 1, plane + 1 << 16 | uplink + 1
    if fmt.entropy == "label and port":
        return uplink + 0x100, plane + 1, plane + 1 << 16 | uplink + 0x100
    if fmt.entropy == "label":
        return 0xC123, value, value
    if fmt.entropy == "hashed":  # nothing in it but chance; the port of the NIC is another matter
        port = 0xC000 + (plane * 7919 + uplink * 104729) % 0x3FFF
        return port, 0, port
    raise ValueError(fmt.entropy)


def block_of(fmt, plane):
    """(number in the first bits, how many)."""
    if fmt.block == "per plane":
        return 0xFC00_0040 + plane, 32
    network = ipaddress.ip_network(fmt.block)
    return int(network.network_address) >> 128 - network.prefixlen, network.prefixlen


def carrier_of(fmt, packet, passed):
    """What is left of block : T0 : T1 : T0 : port behind so many switches, as 16 bytes."""
    front, front_bits = block_of(fmt, packet.plane)
    plane = 0 if fmt.block == "per plane" else packet.plane
    near, far = (B, A) if packet.answers else (A, B)
    usids = [0x2000 + near, 0x1000 + packet.uplink, 0x2000 + far, 0xE003 + far]
    # In one layout the plane is the second nibble, in the other it has the high half to itself.
    usids = [u | plane << 8 for u in usids] if fmt.usid_bits == 16 else [plane + 1 << 16 | u for u in usids]
    if fmt.usid_bits == 32:
        del usids[0]  # three of 32 bits is all there is room for: the T0 is the host's only neighbour
        passed = max(passed - 1, 0)
    number = front
    for usid in usids[min(passed, len(usids) - 1):]:
        number = number << fmt.usid_bits | usid
        front_bits += fmt.usid_bits
    return (number << 128 - front_bits).to_bytes(16, "big")


def address_of(fmt, host):
    return f"192.0.2.{host + 1}" if fmt.ip == 4 else f"2001:db8:77::{host + 0x10:x}"


def mac(kind, host, plane):
    return f"0a:{kind:02x}:00:00:{host:02x}:{plane:02x}"


class Encoder:
    """Frames of one format. What does not change on the way is built once."""

    def __init__(self, fmt):
        self.format = fmt
        self.inside = {}

    def _behind_udp(self, packet):
        fmt = self.format
        own, other = QUEUE_PAIRS[fmt.queue_pairs][packet.flow]  # A's, B's
        stamp = (packet.answers or packet).timestamp if fmt.timestamps else 0
        if packet.is_data:
            headers = mrc.Bth(queue_pair=other, psn=packet.psn, again=int(packet.again),
                              timestamped=int(fmt.timestamps)) / mrc.Meth(msn=packet.psn & 0xFFFF)
            if fmt.timestamps:
                headers /= mrc.Tseth(timestamp=stamp)
            headers /= mrc.Reth(address=0x7000_0000 + packet.psn * PAYLOAD, key=0x77, length=PAYLOAD)
            return bytes(headers) + b"\x5a" * PAYLOAD
        reflected = entropy_of(fmt, packet.answers)[2]
        ids = {"spdcid": other & 0xFFFF, "dpdcid": own & 0xFFFF} if fmt.ids else {}
        if packet.kind == "nack":
            return bytes(mrc.Bth(opcode=mrc.NACK, queue_pair=own, psn=packet.psn) /
                         mrc.Neth(psn=packet.psn, entropy=reflected, timestamp=stamp, **ids))
        if packet.kind == "ack":  # AETH: no error, no credits, message number
            return bytes(mrc.Bth(opcode=mrc.ACKNOWLEDGE, queue_pair=own, psn=packet.psn)) + struct.pack(
                ">I", 0x1F << 24 | packet.psn & 0xFFFF)
        offset = (packet.answers.psn - packet.cumulative + 0x800000) % 0x1000000 - 0x800000
        return bytes(mrc.Bth(opcode=mrc.SACK, queue_pair=own, psn=packet.cumulative) /
                     mrc.Seth(mark=int(packet.answers.marked), trigger_offset=offset,
                              entropy=reflected, cumulative=packet.cumulative, bitmap_offset=1,
                              bitmap=packet.bitmap, timestamp=stamp, received=1, **ids))

    def _inner(self, packet):
        """(IP header, all behind it) as it leaves its host."""
        key = id(packet)
        if key not in self.inside:
            fmt = self.format
            near, far = (B, A) if packet.answers else (A, B)
            sport, label, _ = entropy_of(fmt, packet)
            dscp = mrc.CONTROL if packet.answers else mrc.RETRANSMITTED if packet.again else mrc.TRIMMABLE
            self.inside[key] = mrc.datagram(
                address_of(fmt, near), address_of(fmt, far), fmt.port, sport, label, dscp,
                0 if packet.answers else mrc.ECT0, self._behind_udp(packet))
        return self.inside[key]

    def frame(self, packet, place):
        """As it is on the wire behind `place` switches. T1s mark and trim."""
        fmt = self.format
        ip, rest = self._inner(packet)
        hops = place if fmt.hop_limits else 0
        changed = place >= 2 and packet.is_data
        dscp = mrc.CONTROL if packet.answers else mrc.RETRANSMITTED if packet.again else mrc.TRIMMABLE
        ecn = 0 if packet.answers else mrc.CE if packet.marked and changed else mrc.ECT0
        if packet.trimmed and changed:
            dscp = mrc.TRIMMED
            rest = rest[:8 + 12 + 4 + (4 if fmt.timestamps else 0)]
        if fmt.encapsulated:
            outer = bytes(IPv6(src=address_of(fmt, A), dst="::", tc=dscp << 2 | ecn, nh=41, fl=0,
                               plen=len(ip) + len(rest), hlim=64 - hops))
            body = outer[:24] + carrier_of(fmt, packet, place) + ip + rest
        elif fmt.ip == 6:
            header = IPv6(ip)
            header.tc, header.plen, header.hlim = dscp << 2 | ecn, len(rest), 64 - hops
            body = bytes(header)[:40] + rest
        else:
            body = self._ipv4(ip, rest, dscp << 2 | ecn, 64 - hops)
        near, far = (B, A) if packet.answers else (A, B)
        ends = [mac(1, near, packet.plane), mac(2, near, packet.plane),
                mac(3, packet.uplink, packet.plane), mac(2, far, packet.plane), mac(1, far, packet.plane)]
        src, dst = (ends[place], ends[place + 1]) if fmt.macs else ("00:" * 5 + "00",) * 2
        return bytes(Ether(src=src, dst=dst, type=0x86DD if fmt.encapsulated or fmt.ip == 6 else 0x800)) + body

    @staticmethod
    def _ipv4(ip, rest, tos, ttl):
        header = mrc.IP(ip)
        header.tos, header.ttl, header.len, header.chksum = tos, ttl, 20 + len(rest), None
        return bytes(header)[:20] + rest


assert PLANES <= 0xF
