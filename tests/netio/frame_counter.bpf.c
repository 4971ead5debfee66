// For bpf_program_test.cc: counts the frames that an interface receives, by length, and lets them go on.

#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

struct count {
  __u64 frames;
  __u64 bytes;
};

// Its name is longer than the 15 characters that the kernel keeps.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 8);
  __type(key, __u32);
  __type(value, struct count);
} counts_by_length SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u32);
} frames_to_skip SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} by_processor SEC(".maps");

SEC("tc")
int count_frames(struct __sk_buff* frame) {
  const __u32 zero = 0, length = frame->len;
  __u32* skip = bpf_map_lookup_elem(&frames_to_skip, &zero);
  __u64* here = bpf_map_lookup_elem(&by_processor, &zero);
  struct count* count = bpf_map_lookup_elem(&counts_by_length, &length);
  if (here) ++*here;
  if (skip && *skip > 0) {
    --*skip;
  } else if (count) {
    __sync_fetch_and_add(&count->frames, 1);
    __sync_fetch_and_add(&count->bytes, length);
  }
  return TC_ACT_OK;
}

char _license[] SEC("license") = "Apache-2.0";
