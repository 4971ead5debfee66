#pragma once
// Where two histories first differ: stream by stream, and the first difference in fabric time.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fabric/history/history_record.h"

namespace mrclab::lab {

/// The records that a run kept, of the streams that were asked for.
struct KeptRecords {
  std::map<std::string, std::vector<CompactRecord>> streams;  ///< by name, in commit order
  /// Every record before this instant is there: the earliest of all files. Zero without files.
  FabricTime complete = FabricTime::zero();
  uint64_t kept = 0;  ///< records of all streams
};

/// Where two streams of one name first differ.
struct StreamDifference {
  std::string name;
  size_t rank = 0;       ///< order of node, port, direction
  uint64_t count_a = 0;  ///< records of the whole stream
  uint64_t count_b = 0;
  /// The first record that differs. Empty: what was kept does not reach it.
  std::optional<uint64_t> index;
  std::optional<CompactRecord> a, b;   ///< what is there; empty: the stream has ended
  FabricTime t = FabricTime::never();  ///< the earlier of both
  bool operator==(const StreamDifference&) const = default;
};

/// Equal in everything but the number of the stream, which depends on the fabric.
bool same_record(const CompactRecord& a, const CompactRecord& b);
/// The same packet, whatever became of it: opcode, queue pair and PSN.
bool same_packet(const CompactRecord& a, const CompactRecord& b);

/// Names of the streams whose count or hash differs, or that one run alone has.
std::set<std::string> differing_streams(const std::vector<HistoryStream>& a,
                                        const std::vector<HistoryStream>& b);

/// The streams that differ, by the time of their first difference, ties by `order` (names of all
/// streams of a fabric), those without one last.
std::vector<StreamDifference> compare_histories(const std::vector<HistoryStream>& streams_a,
                                                const KeptRecords& a,
                                                const std::vector<HistoryStream>& streams_b,
                                                const KeptRecords& b,
                                                const std::vector<std::string>& order);

/// The place behind `from` where the packet appears in these records, as far as they go.
std::optional<uint64_t> find_packet(const std::vector<CompactRecord>& records, uint64_t from,
                                    const CompactRecord& packet);

}  // namespace mrclab::lab
