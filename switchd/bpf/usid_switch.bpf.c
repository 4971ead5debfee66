// A switch of a fabric as a program in the kernel: it runs for each frame that comes in by a port of the switch's
// namespace (tc, clsact), does what forwarding_table.cc and egress_port.cc do, and hands the frame to the port where it
// leaves. Payload never leaves the kernel.
//
// It holds no frame back: a shaper of the kernel at each port does that, first in, first out. The program keeps account of
// how much the shaper has left to send, and marks, trims and drops by it. So what is trimmed waits behind data, and
// what is being sent counts as waiting.

#include "switchd/bpf/usid_switch.h"

#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define MAX_ROUTES 65536
#define MAX_SHIFTS 6  // uSIDs of a carrier: each shift takes one away

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, MAX_ROUTES);
  __type(key, __u32);
  __type(value, struct usid_route);
} routes SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, USID_MAX_PORTS);
  __type(key, __u32);
  __type(value, struct usid_port);
} ports SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, USID_MAX_PORTS);
  __type(key, __u32);
  __type(value, struct usid_queue);
} queues SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct usid_rules);
} rules SEC(".maps");

// Ethernet and IPv6 (RFC 8200 section 3), from the start of the frame.
#define AT_ETHERTYPE 12
#define AT_IP 14
#define AT_PAYLOAD_LENGTH 18
#define AT_HOP_LIMIT 21
#define AT_DESTINATION 38
#define AT_ARGUMENT 42  // the uSIDs, which follow the carrier's block 5f00:0::/32
#define HEADERS 54
#define PS_PER_NS 1000

/// The twelve bytes of a carrier behind its block, the active uSID first.
struct argument {
  __u64 high;  // four uSIDs
  __u32 low;   // two
};

static __always_inline __u16 active(const struct argument* a) { return a->high >> 48; }
static __always_inline int ends(const struct argument* a) {
  return a->high << 16 == 0 && a->low == 0;
}
static __always_inline void shift(struct argument* a) {
  a->high = a->high << 16 | a->low >> 16;
  a->low <<= 16;
}

static __always_inline struct usid_route* route_of(__u32 usid) {
  return bpf_map_lookup_elem(&routes, &usid);
}
static __always_inline void count(struct usid_route* route, __u32 length) {
  __sync_fetch_and_add(&route->packets, 1);
  __sync_fetch_and_add(&route->bytes, length);
}
/// Our own switch counts packets without a route for the uSID 0 as well (switchd/switch_node.h).
static __always_inline int drop_unrouted(__u32 length) {
  struct usid_route* none = route_of(0);
  if (none) count(none, length);
  return TC_ACT_SHOT;
}
static __always_inline int refuse(struct usid_route* route) {
  __sync_fetch_and_add(&route->errors, 1);
  return TC_ACT_SHOT;
}

static __always_inline void set_dscp(__u8* ip, __u32 dscp) {
  ip[0] = (ip[0] & 0xf0) | dscp >> 2;
  ip[1] = (ip[1] & 0x3f) | (dscp & 3) << 6;
}

/// Linear between the thresholds: never up to the lower, always from the upper on (UEC 1.0.3 p. 418).
static __always_inline int draws_mark(const struct usid_port* port, __u64 waits) {
  if (waits <= port->mark_min) return 0;
  if (waits >= port->mark_max) return 1;
  const __u64 span = port->mark_max - port->mark_min;
  return bpf_get_prandom_u32() % span < waits - port->mark_min;
}

/// Takes the payload of a frame away; the outer header of the rest has the new length.
static __always_inline int trim(struct __sk_buff* skb, const struct usid_port* port,
                                const struct usid_rules* rule) {
  const __u16 payload = bpf_htons(rule->trimmed_bytes - HEADERS);
  __u8 ip[2];
  if (bpf_skb_change_tail(skb, rule->trimmed_bytes, 0)) return -1;
  if (bpf_skb_load_bytes(skb, AT_IP, ip, sizeof ip)) return -1;
  set_dscp(ip, port->to_host ? rule->trimmed_last_hop : rule->trimmed);
  if (bpf_skb_store_bytes(skb, AT_IP, ip, sizeof ip, 0)) return -1;
  return bpf_skb_store_bytes(skb, AT_PAYLOAD_LENGTH, &payload, sizeof payload, 0);
}

/// Puts a frame into the queue of a port, and sends it.
static __always_inline int enqueue(struct __sk_buff* skb, __u32 number,
                                   const struct usid_port* port, __u8* ip) {
  const __u32 zero = 0;
  const struct usid_rules* rule = bpf_map_lookup_elem(&rules, &zero);
  struct usid_queue* queue = bpf_map_lookup_elem(&queues, &number);
  if (!rule || !queue) return TC_ACT_SHOT;
  const __u32 ifindex = port->ifindex;
  const __u64 now = bpf_ktime_get_ns() * PS_PER_NS;
  const __u32 dscp = (ip[0] & 0xf) << 2 | ip[1] >> 6;
  const __u64 bit = 1ull << dscp;
  const __u64 empty_at = queue->empty_at, pace = port->ps_per_byte;
  __u64 length = skb->len, waits = 0;
  if (pace && empty_at > now) waits = (empty_at - now) / pace;
  if (!(rule->control & bit)) {
    const int may_trim =
        port->trims && (rule->trimmable & bit) && skb->len > rule->header_bytes;
    const __u32 ecn = ip[1] >> 4 & 3;
    const int is_trimmed = dscp == rule->trimmed || dscp == rule->trimmed_last_hop;
    const int may_mark =
        port->marks && !port->to_host && !is_trimmed && (ecn == 1 || ecn == 2);
    if (may_trim && waits + length > port->trim_over) {
      if (trim(skb, port, rule)) return TC_ACT_SHOT;
      length = rule->trimmed_bytes;
      __sync_fetch_and_add(&queue->trimmed, 1);
    } else if (waits + length > port->most) {
      __sync_fetch_and_add(&queue->dropped, 1);
      return TC_ACT_SHOT;
    } else if (may_mark && (port->marks == USID_MARKS_ALL || draws_mark(port, waits))) {
      ip[1] |= 0x30;
      __sync_fetch_and_add(&queue->marked, 1);
    }
  }
  // Frames that come in by two ports at one instant, on two processors, must both count. The first of a time in which
  // nothing waited sets the clock on; of two of these one may set back what the other has added, at most one frame.
  if (empty_at < now) queue->empty_at = now;
  __sync_fetch_and_add(&queue->empty_at, length * pace);
  return bpf_redirect(ifindex, 0);
}

SEC("tc")
int usid_switch(struct __sk_buff* skb) {
  struct argument a;
  __u32 number, shifts;
  __u64 word;
  struct usid_route* own = 0;
  struct usid_route* route;
  struct usid_port* port;
  __u8* frame = (__u8*)(long)skb->data;
  if (frame + HEADERS > (__u8*)(long)skb->data_end) {  // too short, or its headers lie apart
    if (bpf_skb_pull_data(skb, HEADERS)) return TC_ACT_SHOT;
    frame = (__u8*)(long)skb->data;
    if (frame + HEADERS > (__u8*)(long)skb->data_end) return TC_ACT_SHOT;
  }
  if (frame[AT_ETHERTYPE] != 0x86 || frame[AT_ETHERTYPE + 1] != 0xdd) return TC_ACT_SHOT;
  if (frame[AT_IP] >> 4 != 6) return TC_ACT_SHOT;
  const __u32 payload = frame[AT_PAYLOAD_LENGTH] << 8 | frame[AT_PAYLOAD_LENGTH + 1];
  if (HEADERS + payload > skb->len) return TC_ACT_SHOT;
  // The block of all carriers, 5f00:0::/32.
  if (frame[AT_DESTINATION] != 0x5f || frame[AT_DESTINATION + 1] || frame[AT_DESTINATION + 2] ||
      frame[AT_DESTINATION + 3]) {
    return TC_ACT_SHOT;
  }
  __builtin_memcpy(&word, frame + AT_ARGUMENT, sizeof word);
  a.high = bpf_be64_to_cpu(word);
  __builtin_memcpy(&number, frame + AT_ARGUMENT + 8, sizeof number);
  a.low = bpf_ntohl(number);

  // End with NEXT-CSID, again if the next uSID is our own as well (RFC 9800 section 4.1.1).
  __u8 hops = frame[AT_HOP_LIMIT];
  route = route_of(active(&a));
  for (shifts = 0; shifts < MAX_SHIFTS && route && route->action == USID_END; ++shifts) {
    own = route;
    if (ends(&a) || hops <= 1) return refuse(own);
    --hops;
    shift(&a);
    route = route_of(active(&a));
  }
  if (!route || route->action == USID_END || route->action == USID_DROP) {
    return drop_unrouted(skb->len);
  }
  const int link = route->action == USID_LINK;
  if (link && ends(&a)) return refuse(route);
  if (shifts == 0 || link) {  // not shifted yet: an ordinary /48 route costs a hop as well
    if (hops <= 1) return refuse(route);
    --hops;
  }
  if (link) shift(&a);
  number = route->port;
  port = bpf_map_lookup_elem(&ports, &number);
  if (!port) return TC_ACT_SHOT;
  if (own) count(own, skb->len);
  count(route, skb->len);

  word = bpf_cpu_to_be64(a.high);
  __builtin_memcpy(frame + AT_ARGUMENT, &word, sizeof word);
  const __u32 low = bpf_htonl(a.low);
  __builtin_memcpy(frame + AT_ARGUMENT + 8, &low, sizeof low);
  frame[AT_HOP_LIMIT] = hops;
  __builtin_memcpy(frame, port->macs, sizeof port->macs);
  return enqueue(skb, number, port, frame + AT_IP);
}

char _license[] SEC("license") = "Apache-2.0";
