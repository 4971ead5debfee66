#pragma once
// Our programs write two texts beside a frame into a capture: the name of the interface at which the frame was seen, and
// a comment with its fate there (trimmed, dropped).

#include <optional>
#include <string_view>

#include "analysis/capture/capture_reader.h"
#include "fabric/node/node.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// Where the records of one interface were captured.
struct CapturePlace {
  enum class Kind : uint8_t { kUnknown, kHostPort, kSwitchPort, kDrops } kind = Kind::kUnknown;
  PortRef
      port;  ///< kDrops is the interface on which a node records its drops: only the node is set
};
/// "h3:p2", "p0.t0-0:u1" or "h3:drop" in this fabric.
CapturePlace place_named(const Topology& topology, std::string_view interface);
/// The same where no fabric is known: is this what our captures call a port of a host, "h3:p2"?
bool names_host_port(std::string_view interface);

/// A comment, parsed: "trimmed", or "drop: wire_loss p0.t0-0:d1 in". Members that are absent or malformed in it are
/// empty.
struct RecordNote {
  PacketEvent event = PacketEvent::kPassed;
  DropCause cause = DropCause::kMalformed;  ///< this and what follows are set for drops alone
  std::string_view port;                    ///< the port's name, a part of the comment
  std::optional<Direction> side;            ///< where at that port
};
RecordNote read_note(std::string_view comment);
/// The note of a record; nearly all have none.
inline RecordNote note_of(const CaptureRecord& record) {
  return record.comment.empty() ? RecordNote{} : read_note(record.comment);
}
/// The place of a dropped frame: the port that the note names, if the node has it.
inline PortRef dropped_at(const Topology& topology, NodeId node, const RecordNote& note) {
  const std::optional<PortRef> port = topology.find_port(note.port);
  return port && port->node == node ? *port : PortRef{node, PortId{}};
}

}  // namespace mrclab::analysis
