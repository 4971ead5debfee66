#pragma once
// How entropy values stand in packets. Inside the endpoint a value is the name of a path
// (fabric/topology/ev_path.h); each emitter chooses how the UDP source port and the flow label encode it (MRC
// specification §7.5.2.1: a responder copies and reflects whatever it gets), and emitters differ:
//
//   native      port 0xC000 | path, label plane                    as fabric/topology/ev_path.h has it
//   port        port plane << 8 | path, label 0: 16 bits           the public MRC emulator
//   structured  port 0xC000 | plane, label path: 32 bits           STEV, the first hop in the port
//
// Two implementations put the halves of a reflected value in different order; with native and
// structured values either order is understood, as one half is above 0xBFFF and the other is not.

#include <cstdint>
#include <optional>

#include "fabric/topology/path.h"

namespace mrclab::endpoint {

enum class EvFormat : uint8_t { kNative, kPort, kStructured };
inline constexpr const char* kEvFormatWords[] = {"native", "port", "structured"};

/// The value to write into a packet for a value that names a path (EntropyValue as fabric/packet/headers.h
/// writes it: the low half is the source port).
EntropyValue on_wire(EvFormat format, EntropyValue ev);
/// The value that `wire` stands for; a value of another format is returned unchanged. `local`: both
/// ends hang on one switch, so that there is one path per plane.
EntropyValue from_wire(EvFormat format, EntropyValue wire, bool local);

}  // namespace mrclab::endpoint
