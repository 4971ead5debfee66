#include "recorded/diff/run_diff.h"

#include <algorithm>

#include "recorded/folder/run_manifest.h"

namespace mrclab::lab {
namespace {

/// "p0.t0-0:d1/in" and "p0.t0-0:d1/out" of "p0.t0-0:d1/in".
std::string port_of(const std::string& stream) { return stream.substr(0, stream.rfind('/')); }

/// The last records of the port before the difference, in a run that has the stream.
std::vector<ContextRecord> records_before(const RecordedRun& run, const StreamDifference& first,
                                          size_t at_most) {
  const std::string in = port_of(first.name) + "/in";
  const std::string out = port_of(first.name) + "/out";
  const KeptRecords kept = read_records(run, {in, out});
  std::vector<ContextRecord> before;
  for (const auto& [name, records] : kept.streams) {
    const bool own = name == first.name;
    for (size_t i = 0; i < records.size(); ++i) {
      if (own ? i == *first.index : records[i].t >= first.t) break;
      before.push_back({name == out, records[i]});
    }
  }
  std::stable_sort(
      before.begin(), before.end(),
      [](const ContextRecord& x, const ContextRecord& y) { return x.record.t < y.record.t; });
  if (before.size() > at_most) before.erase(before.begin(), before.end() - at_most);
  return before;
}

/// The packet that is at this place in one run alone, further on in the other.
std::optional<CompactRecord> later_in_other(const StreamDifference& first, const KeptRecords& a,
                                            const KeptRecords& b) {
  if (first.a && first.b && same_packet(*first.a, *first.b)) return std::nullopt;
  const bool a_is_first = !first.b || (first.a && first.a->t <= first.b->t);
  const auto found = (a_is_first ? b : a).streams.find(first.name);
  if (found == (a_is_first ? b : a).streams.end()) return std::nullopt;
  const auto place = find_packet(found->second, *first.index, a_is_first ? *first.a : *first.b);
  if (!place) return std::nullopt;
  return found->second[*place];
}

void append(std::vector<std::string>& to, std::vector<std::string> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

RunDiff diff_runs(const std::filesystem::path& a, const std::filesystem::path& b, size_t context) {
  RunDiff diff;
  diff.a = read_run(a);
  diff.b = read_run(b);
  // The records are checked even if the digests agree, because "the same history" speaks of them.
  for (const RecordedRun* run : {&diff.a, &diff.b}) RunManifest(run->folder).require({"history"});
  const uint32_t versions[] = {history_version(diff.a.streams), history_version(diff.b.streams)};
  require_digest_version(diff.a, std::max(versions[0], versions[1]));
  require_digest_version(diff.b, std::max(versions[0], versions[1]));
  diff.same = diff.a.history_sha256 == diff.b.history_sha256;
  diff.hints = differing_settings(diff.a, diff.b);
  if (diff.same) return diff;
  const std::set<std::string> names = differing_streams(diff.a.streams, diff.b.streams);
  const KeptRecords kept_a = read_records(diff.a, names);
  const KeptRecords kept_b = read_records(diff.b, names);
  diff.complete_a = kept_a.complete;
  diff.complete_b = kept_b.complete;
  std::vector<std::string> order = stream_names(diff.a.scenario.topology);
  append(order, stream_names(diff.b.scenario.topology));
  diff.streams = compare_histories(diff.a.streams, kept_a, diff.b.streams, kept_b, order);
  const StreamDifference& first = diff.streams.front();
  diff.located = first.index && first.t < diff.complete();
  if (!diff.located) return diff;
  diff.elsewhere = later_in_other(first, kept_a, kept_b);
  diff.before = records_before(first.count_a > 0 ? diff.a : diff.b, first, context);
  append(diff.hints, in_force(diff.a, diff.b, first.t));
  return diff;
}

}  // namespace mrclab::lab
