#pragma once
// A node's event (EventRecord) as a line of events.jsonl:
//
//   {"t_ps":301250000,"node":"h0","port":"p0","kind":"ev_state","qp":66049,"ev":16384,
//    "cause":"assumed_bad","detail":"to h5"}
//
// What an event does not have is left out. Lines of windows have a form of their own (window_text.h).

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "fabric/node/node.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// The event as a line of events.jsonl, without its end.
std::string event_line(const Topology& topology, NodeId node, const EventRecord& record);

/// A line as values. Its texts are as the file has them: they are made visible where they are shown.
struct ParsedEvent {
  FabricTime t;
  std::optional<NodeId> node;  ///< empty: no node of this fabric, for example "lab"
  std::string kind;
  std::optional<PortId> port;
  std::optional<Qpn> qp;
  std::optional<EntropyValue> ev;
  std::optional<Psn> psn;
  std::string cause, detail;

  /// Refers to this object.
  EventRecord record() const { return {t, kind, port, qp, ev, psn, cause, detail}; }
};

/// Empty if the line is no object or has an unknown key, because something of it would be left out. Throws
/// nlohmann::json::exception for a value of another type or a missing one.
std::optional<ParsedEvent> parse_event(const Topology& topology, const nlohmann::json& line);

}  // namespace mrclab
