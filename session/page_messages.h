#pragma once
// Messages to the page about a session: JSON for what is small or sent once, and two binary forms, all numbers
// little-endian, for what is much (page/world.js reads them).
//
//   sums     u32 1, branch, first bin, bins, wires, planes; per bin: load u8 of each wire (255: line rate),
//            queue u8 of each wire (200: the trim threshold of its port), zeros up to a multiple of 4,
//            and per plane u32 received bytes, u16 lost, trimmed, marked, again
//   packets  u32 2, branch, ticket, count; f64 from_ps, to_ps; per packet 40 bytes: u32 t - from in ps, wire,
//            qp, psn, ev, source, destination, u16 wire length, u8 opcode, event, cause, PacketKind, flags
//            (SeenPacket's, kDataFlag, kDatagramFlag), traffic class, u32 waited_ns
//
// Nodes, links and wires are numbered as in the recording's part of the fabric (recording/followed_part.h). What the
// whole of a larger one does is in whole_messages.h.

#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "faults/fault_choice.h"
#include "session/fabric_session.h"

namespace mrclab::lab {

inline constexpr size_t kMaxPacketsAsked = 100'000;  ///< in one message
inline constexpr FabricTime kMaxSpanAsked = FabricTime::from_ms(2);

/// What a packet is drawn and listed as.
enum class PacketKind : uint8_t { kData, kSack, kNack, kProbe, kTrimmed, kAgain, kOther };
/// Their words, by number: the page's colours and filters have these names.
inline constexpr std::array<std::string_view, 7> kPacketKindWords{
    "data", "sack", "nack", "probe", "trimmed", "again", "other"};
PacketKind kind_of(const SeenPacket& packet);
/// Bits of a message's flags beside SeenPacket's: it carries data, also where it was trimmed; it is of no queue pair.
inline constexpr uint8_t kDataFlag = 8, kDatagramFlag = 16;

/// [[key, value]], because the order in which a body is written is kept.
nlohmann::json body_words(const faults::BodyWords& words);
/// What stays the same for all branches of a session: fabric, names, fault kinds, transports, queue pairs.
nlohmann::json welcome_of(const FabricSession& session);
/// What a branch is: its number, faults with their text and what they impair, transport, the file.
nlohmann::json branch_json(const FabricSession& session);
/// Bins [from, to) of a recording.
std::string sums_message(const Recording& recording, const Topology& topology, uint32_t branch,
                         size_t from, size_t to);
/// Throws InputError if packets at `from` are no longer there.
void require_kept(const Recording& recording, FabricTime from);
/// Is a packet asked for? Null: all are.
using PacketFilter = std::function<bool(const SeenPacket&)>;
/// Packets whose record lies in [from, to). Throws InputError where that is too much, or was left out.
std::string packets_message(const Recording& recording, uint32_t branch, uint32_t ticket,
                            FabricTime from, FabricTime to, const PacketFilter& within = {});
nlohmann::json event_json(const FollowedPart& part, const SeenEvent& event);
nlohmann::json window_json(const Topology& topology, const SeenWindow& window);
nlohmann::json packet_json(const Topology& topology, const SeenPacket& packet);

}  // namespace mrclab::lab
