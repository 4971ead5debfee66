#pragma once
// The entries of the tables that a switch in the kernel (usid_switch.bpf.c) shares with the lab, which sets it up.
// C, since both read it. Lengths are what the kernel counts: Ethernet header and payload, no FCS and no preamble.

#include <linux/types.h>

#define USID_MAX_PORTS 1024 /* of a switch */

/// Table "routes", by uSID: what becomes of a frame whose carrier has that uSID in front.
enum usid_action {
  USID_DROP = 0,  ///< at uSID 0: the switch drops carriers without a route, and counts them here
  USID_END = 1,   ///< the switch's own uN: shift
  USID_VIA = 2,   ///< leave by the port
  USID_LINK = 3,  ///< a uA: shift and leave by the port (End.X)
};
struct usid_route {
  __u32 action;
  __u32 port;            ///< index into the tables of ports
  __u64 packets, bytes;  ///< that were shifted, sent by this route, or dropped
  __u64 errors;          ///< whose carrier ended here, or that had no hop left
};

/// Which packets a port marks, of those that take a mark.
enum usid_marks {
  USID_MARKS = 1,      ///< by what waits
  USID_MARKS_ALL = 2,  ///< a fault: all of them
};

/// Table "ports": where frames leave, and the queue that the port's shaper keeps. Lengths in bytes.
struct usid_port {
  __u32 ifindex;
  __u8 to_host;  ///< it leads to a host: no marks
  __u8 marks;    ///< usid_marks, or 0
  __u8 trims, unused;
  __u8 macs[12];      ///< destination, source
  __u64 ps_per_byte;  ///< 0: the queue is always empty
  __u64 mark_min, mark_max;
  __u64 trim_over,
      most;  ///< what data may come to with the frame, before it is trimmed, and dropped
};

/// Table "queues", by port: the state of the queue, which only the switch writes.
struct usid_queue {
  __u64 empty_at;                  ///< ps of the monotonic clock: when what was sent has left
  __u64 marked, trimmed, dropped;  ///< frames
};

/// Table "rules", one entry: what DSCPs mean.
struct usid_rules {
  __u64 trimmable, control;  ///< one bit for each DSCP
  __u32 trimmed, trimmed_last_hop;
  __u32 trimmed_bytes;  ///< length of what is left of a trimmed frame
  __u32 header_bytes;   ///< a frame no longer than this carries no payload, and is not trimmed
};
