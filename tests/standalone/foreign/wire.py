"""Cables to a program under test, and frames on them, made with scapy from the specification's tables.

Two planes: the program has the near ends of two veth pairs, this the far ones, all in a network
namespace of their own. Frames are compared byte by byte; what the specification leaves to the sender
(its entropy value, its hop limit) is taken from the frame that came.
"""

import select
import socket
import struct
import subprocess
import time

import mrc_headers as mrc
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether

PLANES = 2
PROGRAM, STRANGER = "2001:db8:5::1", "2001:db8:5::2"  # inner addresses
ETHERNET, IP, UDP, BTH = 14, 40, 8, 12
AT_OUTER, AT_INNER = ETHERNET, ETHERNET + IP
AT_UDP = AT_INNER + IP
AT_BTH = AT_UDP + UDP
AT_BEHIND_BTH = AT_BTH + BTH
TRIMMED_BYTES = 128
OUTGOING = 4  # packet(7): PACKET_OUTGOING
ENDPOINT_QPN = 2


class Complaint(Exception):
    """What the program did and should not have."""


def near(plane):
    return f"n{plane}"


def far(plane):
    return f"f{plane}"


def mac_of(interface):
    """Ours to choose: the first letter says which end it is."""
    return f"02:00:00:00:{'01' if interface[0] == 'n' else '02'}:{int(interface[1:]):02x}"


def lay_cables():
    """In the namespace that this process is in. The kernels of the ends stay silent."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for plane in range(PLANES):
        subprocess.run(["ip", "link", "add", near(plane), "address", mac_of(near(plane)), "type",
                        "veth", "peer", "name", far(plane), "address", mac_of(far(plane))],
                       check=True)
        for interface in (near(plane), far(plane)):
            with open(f"/proc/sys/net/ipv6/conf/{interface}/disable_ipv6", "w", encoding="ascii") as file:
                file.write("1")
            subprocess.run(["ip", "link", "set", interface, "up"], check=True)


def differences(expected, found):
    """Where two frames differ, as offsets from the Ethernet header."""
    if len(expected) != len(found):
        return f"{len(found)} bytes instead of {len(expected)}: {found.hex()}"
    places = [i for i, (a, b) in enumerate(zip(expected, found)) if a != b]
    return ", ".join(f"byte {i} is {found[i]:02x}, not {expected[i]:02x}" for i in places[:8])


class Received:
    """A frame of the program's with what is needed before it can be compared."""

    def __init__(self, plane, data):
        self.plane, self.data = plane, data
        self.hop_limit = data[AT_OUTER + 7]
        self.flow_label = struct.unpack_from(">I", data, AT_INNER)[0] & 0xF_FFFF
        self.source_port = struct.unpack_from(">H", data, AT_UDP)[0]
        self.opcode = data[AT_BTH]
        self.psn = int.from_bytes(data[AT_BTH + 9:AT_BTH + 12], "big")
        self.again = bool(data[AT_BTH + 8] & 0x20)
        self.ack_request = bool(data[AT_BTH + 8] & 0x80)

    @property
    def entropy(self):
        """As a responder reflects it: 16 bits of the label, then the port."""
        return (self.flow_label & 0xFFFF) << 16 | self.source_port

    def number(self, offset, count):
        """Bytes behind BTH as a number."""
        at = AT_BEHIND_BTH + offset
        return int.from_bytes(self.data[at:at + count], "big")


class Wire:
    """Sends and receives at the far ends."""

    def __init__(self, dscps, udp_port=4791):
        self.dscps, self.udp_port = dscps, udp_port
        self.sockets = []
        for plane in range(PLANES):
            raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x86DD))
            raw.bind((far(plane), 0x86DD))
            self.sockets.append(raw)

    def close(self):
        for raw in self.sockets:
            raw.close()

    def frame(self, plane, source_port, flow_label, dscp, ecn, behind):
        """A frame of ours: IPv6 in IPv6, no SRH; the outer destination is the program's own address."""
        ip, rest = mrc.datagram(STRANGER, PROGRAM, self.udp_port, source_port, flow_label, dscp, ecn, behind)
        outer = IPv6(src=STRANGER, dst=PROGRAM, tc=dscp << 2 | ecn, nh=41, fl=flow_label,
                     plen=len(ip) + len(rest), hlim=64)
        ethernet = Ether(src=mac_of(far(plane)), dst=mac_of(near(plane)), type=0x86DD)
        return bytes(ethernet) + bytes(outer)[:IP] + ip + rest

    def send(self, plane, frame):
        self.sockets[plane].send(frame)

    def receive(self, limit):
        """The next frame of the program's within so many seconds, or None."""
        end = time.monotonic() + limit
        while True:
            ready, _, _ = select.select(self.sockets, [], [], max(end - time.monotonic(), 0))
            if not ready:
                return None
            for raw in ready:
                data, address = raw.recvfrom(65536)
                if address[2] != OUTGOING:
                    return Received(self.sockets.index(raw), data)

    def compare(self, came, dscp, ecn, behind, what):
        """Is it, from the first byte to the ICRC, what the tables say?"""
        plane = came.plane
        ip, rest = mrc.datagram(PROGRAM, STRANGER, 4791, came.source_port, came.flow_label, dscp, ecn, behind)
        outer = IPv6(src=PROGRAM, dst=STRANGER, tc=dscp << 2 | ecn, nh=41, fl=came.flow_label,
                     plen=len(ip) + len(rest), hlim=came.hop_limit)
        ethernet = Ether(src=mac_of(near(plane)), dst=mac_of(far(plane)), type=0x86DD)
        inner = bytearray(ip)
        inner[7] = came.data[AT_INNER + 7]  # not under the ICRC
        expected = bytes(ethernet) + bytes(outer)[:IP] + bytes(inner) + rest
        if expected != came.data:
            raise Complaint(f"{what}: {differences(expected, came.data)}")


def trimmed(frame, dscp):
    """What a switch makes of it: the first 128 bytes, the outer length and DSCP; the rest as it was."""
    cut = bytearray(frame[:TRIMMED_BYTES])
    struct.pack_into(">H", cut, AT_OUTER + 4, TRIMMED_BYTES - AT_INNER)
    word = struct.unpack_from(">I", cut, AT_OUTER)[0]
    struct.pack_into(">I", cut, AT_OUTER, word & ~(0x3F << 22) | dscp << 22)
    return bytes(cut)


def marked(frame):
    """With a switch's congestion mark in the outer header."""
    out = bytearray(frame)
    out[AT_OUTER + 1] |= mrc.CE << 4
    return bytes(out)
