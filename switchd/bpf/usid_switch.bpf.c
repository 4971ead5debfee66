// The program at the ingress of each port of a switch whose forwarding is `bpf`. It drops every frame so far.

#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

struct route {
  __u32 ifindex;
  __u32 shifts;
};

// By uSID in host order, padded.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __type(key, __u32);
  __type(value, struct route);
} routes SEC(".maps");

SEC("tc")
int usid_switch(struct __sk_buff* frame) {
  const __u32 usid = frame->len;
  bpf_map_lookup_elem(&routes, &usid);
  return TC_ACT_SHOT;
}

// As LICENSE. It calls no helper that the kernel keeps for programs under the GPL.
char _license[] SEC("license") = "Apache-2.0";
