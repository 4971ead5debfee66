#pragma once
// BPF programs of bpf_program_test.cc, as the build compiles them; empty where it compiles none.

#include <cstdint>
#include <span>

namespace mrclab::netio::test {

std::span<const uint8_t> frame_counter_object();  ///< frame_counter.bpf.c
std::span<const uint8_t> refused_object();        ///< refused.bpf.c

}  // namespace mrclab::netio::test
