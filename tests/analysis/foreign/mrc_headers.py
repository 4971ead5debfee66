"""MRC 1.0 headers as scapy packets, from the tables of the specification as public sources print them.

Nothing of this project's codecs: fields in order of their bits, most significant first, with the
number of the table where the specification has one. All numbers are in network byte order.
"""

import struct
import zlib

from scapy.fields import (BitEnumField, BitField, ByteField, IntField, LongField, ShortField,
                          SignedShortField, ThreeBytesField)
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.packet import Packet

WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_LAST_IMMEDIATE, WRITE_ONLY = 0xC6, 0xC7, 0xC8, 0xC9, 0xCA
ACKNOWLEDGE, ENDPOINT_REQUEST, ENDPOINT_RESPONSE = 0xD1, 0xD8, 0xD9
SACK, NACK, PROBE = 0xDC, 0xDD, 0xDE
NO_TRIM, TRIMMABLE, RETRANSMITTED, TRIMMED, TRIMMED_LAST_HOP, CONTROL = 0, 4, 8, 12, 16, 46  # DSCPs
ECT0, CE = 2, 3


class Bth(Packet):
    """Tables 6-3, 6-4: base transport header, 12 bytes."""
    name = "BTH"
    fields_desc = [ByteField("opcode", WRITE_ONLY),
                   BitField("solicited", 0, 1), BitField("migration", 0, 1), BitField("pad", 0, 2),
                   BitField("version", 0, 4), ShortField("p_key", 0xFFFF),
                   ByteField("variant", 0), ThreeBytesField("queue_pair", 0),
                   BitField("ack_request", 0, 1), BitField("reserved", 0, 1),
                   BitField("again", 0, 1), BitField("timestamped", 0, 1),
                   BitField("invariant", 0, 4), ThreeBytesField("psn", 0)]


class Meth(Packet):
    """Tables 6-8, 6-9: message numbers."""
    name = "METH"
    fields_desc = [ShortField("rqmsn", 0), ShortField("msn", 0)]


class Tseth(Packet):
    """Tables 6-6, 6-7: when it was sent, in 128 ns."""
    name = "TSETH"
    fields_desc = [ShortField("timestamp", 0), BitField("unit", 0, 1), BitField("reserved", 0, 11),
                   BitField("kind", 1, 4)]


class Reth(Packet):
    """Where in memory it goes: in every write."""
    name = "RETH"
    fields_desc = [LongField("address", 0), IntField("key", 0), IntField("length", 0)]


class Seth(Packet):
    """Tables 7-14, 7-15 and the congestion control state of 7-12, 7-13: 28 + 8 bytes."""
    name = "SETH"
    fields_desc = [BitField("kind", 0, 4), BitField("next", 0, 5),
                   BitEnumField("mark", 0, 2, {0: "none", 1: "skip once", 2: "always skip"}),
                   BitField("reserved1", 0, 3), BitField("probe", 0, 1), BitField("reserved2", 0, 1),
                   SignedShortField("trigger_offset", 0), IntField("entropy", 0),
                   ShortField("spdcid", 0), ShortField("dpdcid", 0), ByteField("reserved3", 0),
                   ThreeBytesField("cumulative", 0), BitField("cc_kind", 0, 4),
                   BitField("cc_flags", 0, 4), ByteField("mpr", 0),
                   SignedShortField("bitmap_offset", 0), LongField("bitmap", 0),
                   ShortField("timestamp", 0), BitField("reserved4", 0, 1),
                   BitField("out_of_order", 0, 15), BitField("restore", 0, 1),
                   BitField("penalty", 0, 7), ThreeBytesField("received", 0)]


class Neth(Packet):
    """Tables 7-16, 7-17: 20 bytes."""
    name = "NETH"
    fields_desc = [BitField("kind", 0, 4), BitField("next", 0, 5), BitField("reserved1", 0, 7),
                   ByteField("reason", 1), ByteField("vendor", 0), IntField("entropy", 0),
                   ShortField("spdcid", 0), ShortField("dpdcid", 0), ByteField("reserved2", 0),
                   ThreeBytesField("psn", 0), BitField("cc_kind", 2, 4), BitField("cc_flags", 0, 4),
                   ByteField("reserved3", 0), ShortField("timestamp", 0)]


class Peth(Packet):
    """Tables 7-18, 7-19: a reliability probe, 16 bytes."""
    name = "PETH"
    fields_desc = [BitField("kind", 0, 4), BitField("next", 0, 5), BitField("reserved1", 0, 15),
                   ByteField("vendor", 0), ShortField("probe_id", 0), ShortField("reserved2", 0),
                   ShortField("spdcid", 0), ShortField("dpdcid", 0), ShortField("timestamp", 0),
                   BitField("unit", 0, 1), BitField("reserved3", 0, 11), BitField("stamp_kind", 1, 4)]


class Erth(Packet):
    """Tables 7-20, 7-21: an endpoint's request, 16 bytes."""
    name = "ERTH"
    fields_desc = [BitField("kind", 0, 4), BitField("next", 0, 5), BitField("reserved1", 0, 5),
                   BitEnumField("op", 0, 2, {0: "port status", 1: "EV probe"}),
                   ByteField("reserved2", 0), ByteField("vendor", 0), IntField("ports", 0),
                   IntField("reserved3", 0), ShortField("timestamp", 0), BitField("unit", 0, 1),
                   BitField("reserved4", 0, 11), BitField("stamp_kind", 1, 4)]


class Eeth(Packet):
    """Tables 7-22, 7-23: the answer to it, 36 bytes. The operation is in bits 3 and 2 of byte 1."""
    name = "EETH"
    fields_desc = [BitField("kind", 0, 4), BitField("next", 0, 5), BitField("reserved1", 0, 3),
                   BitEnumField("op", 0, 2, {0: "port status", 1: "EV probe"}),
                   BitField("reserved2", 0, 2), BitField("reserved3", 0, 26 * 8),
                   ShortField("timestamp", 0), BitField("reserved4", 0, 6 * 8)]


def icrc(ip, udp, behind):
    """IBTA's invariant CRC: of a copy in which all that changes on the way is ones."""
    ip, udp, behind = bytearray(ip), bytearray(udp), bytearray(behind)
    if ip[0] >> 4 == 6:
        ip[0] |= 0x0F
        ip[1:4] = b"\xff" * 3
        ip[7] = 0xFF
    else:
        ip[1] = ip[8] = 0xFF
        ip[10:12] = b"\xff" * 2
    udp[6:8] = b"\xff" * 2
    behind[4] = 0xFF
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + ip + udp + behind))


def datagram(source, destination, port, source_port, flow_label, dscp, ecn, behind):
    """IP, UDP and the ICRC around what stands behind UDP; IPv4 where the addresses are."""
    length = 8 + len(behind) + 4
    if ":" in source:
        ip = IPv6(src=source, dst=destination, tc=dscp << 2 | ecn, fl=flow_label, plen=length, nh=17,
                  hlim=64)
    else:
        ip = IP(src=source, dst=destination, tos=dscp << 2 | ecn, len=20 + length, proto=17, ttl=64,
                flags="DF", id=0)
    ip_bytes = bytes(ip)
    udp = bytes(UDP(sport=source_port, dport=port, len=length, chksum=0))
    udp = udp[:6] + b"\0\0"  # scapy may fill in a checksum; RoCEv2 senders send none
    return ip_bytes, udp + behind + icrc(ip_bytes, udp, behind)
