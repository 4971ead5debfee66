#include "recorded/diff/history_diff.h"

#include <algorithm>
#include <tuple>

namespace mrclab::lab {
namespace {

using StreamsByName = std::map<std::string, HistoryStream>;

StreamsByName by_name(const std::vector<HistoryStream>& streams) {
  StreamsByName result;
  for (const HistoryStream& stream : streams) result.emplace(stream.name, stream);
  return result;
}

uint64_t count_of(const StreamsByName& streams, const std::string& name) {
  const auto found = streams.find(name);
  return found == streams.end() ? 0 : found->second.count;
}

const std::vector<CompactRecord>& records_of(const KeptRecords& run, const std::string& name) {
  static const std::vector<CompactRecord> kNoRecords;
  const auto found = run.streams.find(name);
  return found == run.streams.end() ? kNoRecords : found->second;
}

/// Fills in where the records first differ, if they reach that far.
void locate(StreamDifference& difference, const std::vector<CompactRecord>& a,
            const std::vector<CompactRecord>& b) {
  const size_t common = std::min(a.size(), b.size());
  size_t i = 0;
  while (i < common && same_record(a[i], b[i])) ++i;
  const bool a_ends = i == a.size();
  const bool b_ends = i == b.size();
  if (a_ends && b_ends) return;
  // A stream that ends here because its file was full does not differ by that.
  if (a_ends && a.size() < difference.count_a) return;
  if (b_ends && b.size() < difference.count_b) return;
  difference.index = i;
  if (!a_ends) difference.a = a[i];
  if (!b_ends) difference.b = b[i];
  difference.t = a_ends ? b[i].t : b_ends ? a[i].t : std::min(a[i].t, b[i].t);
}

}  // namespace

bool same_record(const CompactRecord& a, const CompactRecord& b) {
  CompactRecord renumbered = b;
  renumbered.stream = a.stream;
  return a == renumbered;
}

bool same_packet(const CompactRecord& a, const CompactRecord& b) {
  return a.opcode != 0 && a.opcode == b.opcode && a.qpn == b.qpn && a.psn == b.psn;
}

std::set<std::string> differing_streams(const std::vector<HistoryStream>& a,
                                        const std::vector<HistoryStream>& b) {
  const StreamsByName in_a = by_name(a);
  const StreamsByName in_b = by_name(b);
  std::set<std::string> names;
  for (const auto& [name, stream] : in_a) {
    const auto other = in_b.find(name);
    if (other == in_b.end() || other->second != stream) names.insert(name);
  }
  for (const auto& [name, stream] : in_b) {
    if (!in_a.contains(name)) names.insert(name);
  }
  return names;
}

std::vector<StreamDifference> compare_histories(const std::vector<HistoryStream>& streams_a,
                                                const KeptRecords& a,
                                                const std::vector<HistoryStream>& streams_b,
                                                const KeptRecords& b,
                                                const std::vector<std::string>& order) {
  const StreamsByName in_a = by_name(streams_a);
  const StreamsByName in_b = by_name(streams_b);
  std::map<std::string, size_t> rank;
  for (const std::string& name : order) rank.emplace(name, rank.size());
  std::vector<StreamDifference> result;
  for (const std::string& name : differing_streams(streams_a, streams_b)) {
    StreamDifference difference;
    difference.name = name;
    const auto place = rank.find(name);
    difference.rank = place == rank.end() ? rank.size() : place->second;
    difference.count_a = count_of(in_a, name);
    difference.count_b = count_of(in_b, name);
    locate(difference, records_of(a, name), records_of(b, name));
    result.push_back(std::move(difference));
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const StreamDifference& x, const StreamDifference& y) {
                     return std::tie(x.t, x.rank) < std::tie(y.t, y.rank);
                   });
  return result;
}

std::optional<uint64_t> find_packet(const std::vector<CompactRecord>& records, uint64_t from,
                                    const CompactRecord& packet) {
  for (uint64_t i = from; i < records.size(); ++i) {
    if (same_packet(records[i], packet)) return i;
  }
  return std::nullopt;
}

}  // namespace mrclab::lab
