#pragma once
// A queue pair between two standalone ends, made by the messages of peer_messages.h.

#include <string_view>

#include "endpoint/host/verbs.h"
#include "netio/rpc/line_channel.h"
#include "standalone/endpoint.h"
#include "standalone/peer_messages.h"

namespace mrclab::standalone {

/// A queue pair in RTS and what it may write to.
struct Connection {
  Qpn qpn;
  endpoint::MemoryRegion remote;
};
/// Creates a queue pair on `cq`, exchanges, and takes it to RTS. Returns when both ends are there.
Connection connect(StandaloneEndpoint& end, netio::LineChannel& channel, endpoint::CqHandle cq,
                   const endpoint::MemoryRegion& inbox);

/// Exchanges {"state":word} both ways, so that no end goes on alone. Keeps the endpoint running
/// meanwhile.
void meet(StandaloneEndpoint& end, netio::LineChannel& channel, std::string_view word);

}  // namespace mrclab::standalone
