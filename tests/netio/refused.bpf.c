// For bpf_program_test.cc: reads a frame without asking for its end, which the kernel's verifier refuses.

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

SEC("tc")
int read_beyond(struct __sk_buff* frame) { return *(__u8*)(long)frame->data; }

char _license[] SEC("license") = "Apache-2.0";
