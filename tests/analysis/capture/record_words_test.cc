#include "analysis/capture/record_words.h"

#include <doctest/doctest.h>

#include "tests/support/fabrics.h"

namespace mrclab::analysis {
namespace {

TEST_CASE(
    "an interface of a capture is a port of a host, a port of a switch, a node's drops, or "
    "nothing") {
  using PlaceKind = CapturePlace::Kind;
  const Topology t = test::octet();
  struct Row {
    const char* name;
    PlaceKind kind;
  };
  for (const Row& row :
       {Row{"h3:p2", PlaceKind::kHostPort}, Row{"p0.t0-0:u1", PlaceKind::kSwitchPort},
        Row{"h3:drop", PlaceKind::kDrops}, Row{"p0.t0-0:drop", PlaceKind::kDrops},
        Row{"h3:p9", PlaceKind::kUnknown}, Row{"h99:drop", PlaceKind::kUnknown},
        Row{"eth0", PlaceKind::kUnknown}, Row{":drop", PlaceKind::kUnknown},
        Row{"", PlaceKind::kUnknown}}) {
    CAPTURE(row.name);
    const CapturePlace place = place_named(t, row.name);
    CHECK(place.kind == row.kind);
    if (row.kind == PlaceKind::kHostPort || row.kind == PlaceKind::kSwitchPort) {
      CHECK(t.port_name(place.port) == row.name);
    }
    CHECK(names_host_port(row.name) ==
          (row.kind == PlaceKind::kHostPort || row.name == std::string("h3:p9")));
  }
  CHECK(place_named(t, "h3:drop").port == PortRef{t.host(3), PortId{}});
}

TEST_CASE("a comment says what became of a frame, why, at which port and on which side of it") {
  struct Row {
    const char* comment;
    PacketEvent event;
    DropCause cause;
    const char* port;
    std::optional<Direction> side;
  };
  constexpr DropCause kUnread = DropCause::kMalformed;
  for (const Row& row :
       {Row{"", PacketEvent::kPassed, kUnread, "", {}},
        Row{"trimmed", PacketEvent::kTrimmed, kUnread, "", {}},
        Row{"seen by tcpdump", PacketEvent::kPassed, kUnread, "", {}},
        Row{"drop: wire_loss p0.t0-0:d1 in", PacketEvent::kDropped, DropCause::kWireLoss,
            "p0.t0-0:d1", Direction::kIngress},
        Row{"drop: queue_full p0.t0-0:u0 out", PacketEvent::kDropped, DropCause::kQueueFull,
            "p0.t0-0:u0", Direction::kEgress},
        Row{"drop: no_such_cause h1:p0", PacketEvent::kDropped, kUnread, "h1:p0", {}},
        Row{"drop:", PacketEvent::kDropped, kUnread, "", {}}}) {
    CAPTURE(row.comment);
    CaptureRecord record;
    record.comment = row.comment;
    const RecordNote note = note_of(record);
    CHECK(note.event == row.event);
    CHECK(note.cause == row.cause);
    CHECK(note.port == row.port);
    CHECK((note.side == row.side));
  }
}

TEST_CASE(
    "a drop is placed at the port that its comment names, at the node alone where that is "
    "another's") {
  const Topology t = test::octet();
  const NodeId leaf = *t.find_node("p0.t0-0");
  const auto place = [&](const char* comment) { return dropped_at(t, leaf, read_note(comment)); };
  CHECK(place("drop: wire_loss p0.t0-0:d1 in") == *t.find_port("p0.t0-0:d1"));
  CHECK(place("drop: wire_loss h1:p0 in") == PortRef{leaf, PortId{}});
  CHECK(place("drop: wire_loss") == PortRef{leaf, PortId{}});
}

}  // namespace
}  // namespace mrclab::analysis
