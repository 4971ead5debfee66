#include "analysis/history/joined_parts.h"

#include <algorithm>
#include <array>
#include <functional>

namespace mrclab::analysis {
namespace {

constexpr uint32_t kNone = Attempt::kNone;
using Turns = std::vector<uint32_t> JoinedPart::MadeBy::*;

/// [part][entry]: its number among those of all parts.
struct Numbers {
  std::vector<std::vector<uint32_t>> of_part;
  size_t count = 0;
  uint32_t operator()(size_t part, uint32_t entry) const {
    return entry == kNone ? kNone : of_part[part][entry];
  }
};

Numbers numbered(const std::vector<JoinedPart>& parts, Turns turns) {
  Numbers numbers;
  for (const JoinedPart& part : parts) {
    numbers.of_part.emplace_back().reserve((part.made_by.*turns).size());
    numbers.count += (part.made_by.*turns).size();
  }
  for (uint32_t number = 0; number < numbers.count; ++number) {
    size_t first = 0;
    uint32_t turn = kNone;
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::vector<uint32_t>& of_part = parts[i].made_by.*turns;
      const size_t at = numbers.of_part[i].size();
      if (at >= of_part.size() || of_part[at] >= turn) continue;
      first = i;
      turn = of_part[at];
    }
    numbers.of_part[first].push_back(number);
  }
  return numbers;
}

/// Puts the entries of all parts into the order of their numbers, each renumbered, and frees the
/// parts' memory.
template <class Entry, class Renumbered>
void put_together(std::vector<Entry>& all, std::vector<JoinedPart>& parts,
                  std::vector<Entry> PacketTables::*table, const Numbers& numbers,
                  const Renumbered& renumbered) {
  all.resize(numbers.count);
  for (size_t i = 0; i < parts.size(); ++i) {
    std::vector<Entry> entries = std::move(parts[i].tables.*table);
    for (size_t j = 0; j < entries.size(); ++j) {
      renumbered(i, entries[j]);
      all[numbers.of_part[i][j]] = std::move(entries[j]);
    }
  }
}

void add_rc_answers(PacketTables& tables, std::vector<JoinedPart>& parts, const Numbers& flows) {
  for (size_t i = 0; i < parts.size(); ++i) {
    std::vector<RcAnswers>& answers = parts[i].tables.rc_answers;
    for (uint32_t j = 0; j < answers.size(); ++j) {
      if (answers[j].cnps == 0 && answers[j].naks.empty()) continue;  // only makes room for others
      const uint32_t flow = flows(i, j);
      if (tables.rc_answers.size() <= flow) tables.rc_answers.resize(flow + 1);
      tables.rc_answers[flow] = std::move(answers[j]);
    }
  }
}

}  // namespace

void HistoryCounters::add(const HistoryCounters& more) {
  static_assert(sizeof(HistoryCounters) == 27 * sizeof(uint64_t), "add the new one, too");
  records += more.records;
  capture_skipped += more.capture_skipped;
  unknown_interface += more.unknown_interface;
  passing += more.passing;
  not_mrc += more.not_mrc;
  unknown_host += more.unknown_host;
  over_limit += more.over_limit;
  rtx_bit_wrong += more.rtx_bit_wrong;
  unmatched_arrivals += more.unmatched_arrivals;
  unmatched_drops += more.unmatched_drops;
  copies += more.copies;
  duplicate_deliveries += more.duplicate_deliveries;
  retransmissions += more.retransmissions;
  trimmed += more.trimmed;
  dropped += more.dropped;
  refused += more.refused;
  dropped_control += more.dropped_control;
  sacks += more.sacks;
  nacks += more.nacks;
  probes += more.probes;
  rc_acks += more.rc_acks;
  rc_naks += more.rc_naks;
  cnps += more.cnps;
  fatal_nacks += more.fatal_nacks;
  acks_without_flow += more.acks_without_flow;
  acks_ahead += more.acks_ahead;
  acks_of_unsent += more.acks_of_unsent;
}

void add_parts(PacketTables& tables, std::vector<JoinedPart> parts,
               const SideBySide& side_by_side) {
  using MadeBy = JoinedPart::MadeBy;
  constexpr std::array<Turns, 5> kTurns{&MadeBy::packets, &MadeBy::attempts, &MadeBy::deliveries,
                                        &MadeBy::control, &MadeBy::flows};
  std::array<Numbers, kTurns.size()> numbers;
  run_all(side_by_side, kTurns.size(), [&](size_t i) { numbers[i] = numbered(parts, kTurns[i]); });
  const Numbers& packets = numbers[0];
  const Numbers& attempts = numbers[1];
  const Numbers& deliveries = numbers[2];
  const Numbers& control = numbers[3];
  const Numbers& flows = numbers[4];
  const std::array<std::function<void()>, 6> tasks{
      [&] {
        put_together(tables.attempts, parts, &PacketTables::attempts, attempts,
                     [&](size_t part, Attempt& a) {
                       a.packet = packets(part, a.packet);
                       a.previous = attempts(part, a.previous);
                     });
      },
      [&] {
        put_together(tables.packets, parts, &PacketTables::packets, packets,
                     [&](size_t part, Packet& p) {
                       p.flow = flows(part, p.flow);
                       p.last = attempts(part, p.last);
                     });
      },
      [&] {
        put_together(tables.deliveries, parts, &PacketTables::deliveries, deliveries,
                     [&](size_t part, Delivery& d) { d.packet = packets(part, d.packet); });
      },
      [&] {
        put_together(tables.in_order, parts, &PacketTables::in_order, flows,
                     [&](size_t part, std::vector<uint32_t>& slots) {
                       for (uint32_t& slot : slots) slot = packets(part, slot);
                     });
      },
      [&] {
        put_together(tables.control, parts, &PacketTables::control, control,
                     [](size_t, ControlArrival&) {});
      },
      [&] {
        put_together(tables.flows, parts, &PacketTables::flows, flows, [](size_t, Flow&) {});
        add_rc_answers(tables, parts, flows);
      }};
  run_all(side_by_side, tasks.size(), [&](size_t i) { tasks[i](); });
  for (const JoinedPart& part : parts) {
    tables.counters.add(part.tables.counters);
    tables.complete_until = std::min(tables.complete_until, part.tables.complete_until);
  }
}

}  // namespace mrclab::analysis
