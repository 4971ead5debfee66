#pragma once
// Where the packets of messages lie, by their own headers.

#include <cstdint>
#include <functional>

#include "analysis/history/packet_history.h"

namespace mrclab::analysis {

/// Does [va, va + size) lie inside of [of_va, of_va + of_size)?
bool wholly_inside(uint64_t va, uint64_t size, uint64_t of_va, uint64_t of_size);

/// Do the packets of each message of a flow lie side by side, and end where the message ends?
/// Reports each packet that does not; behind a PSN that was not seen only neighbours are compared.
void for_each_misplaced(const PacketHistory& history, uint32_t flow,
                        const std::function<void(const Packet&)>& tell);

/// Messages of a flow, from its first packet on, all of whose packets arrived.
uint64_t whole_messages(const PacketHistory& history, uint32_t flow);

}  // namespace mrclab::analysis
