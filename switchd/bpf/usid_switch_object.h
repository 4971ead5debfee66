#pragma once
// The BPF program that a switch with `forwarding: bpf` has at its ports, as the build has compiled it.

#include <cstdint>
#include <span>

namespace mrclab::switchd {

/// The ELF object of usid_switch.bpf.c; empty if this build has none, because clang or libbpf was not there.
std::span<const uint8_t> usid_switch_object();

}  // namespace mrclab::switchd
