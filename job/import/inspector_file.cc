#include "job/import/inspector_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "fabric/text/input_error.h"
#include "fabric/text/json_text.h"
#include "fabric/text/visible_text.h"
#include "job/import/measured_fields.h"

namespace mrclab::job {
namespace {

using nlohmann::json;

constexpr size_t kMaxInspectorLine = size_t{1} << 20;
constexpr size_t kMaxProcesses = 4 * kMaxRanks;

class InspectorReader {
 public:
  explicit InspectorReader(const std::string& name) : name_(name) {}

  std::vector<MeasuredRank> read(std::string_view text) {
    while (!text.empty()) {
      const size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      ++line_;
      if (line.size() > kMaxInspectorLine) fail("a line of more than 1 MiB");
      if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      const json object = parse_json<json>(line);
      if (!object.is_object()) fail("no JSON object");
      read_line(object);
    }
    if (records_.empty()) throw InputError(name_ + ": no coll_perf or p2p_perf");
    number_processes();
    return made();
  }

 private:
  struct Communicator {
    std::string name;
    uint64_t ranks = 0;
    std::map<uint64_t, uint32_t> process_of;  ///< by rank in it
  };
  struct Record {
    uint32_t process = 0, communicator = 0, line = 0;
    uint64_t number = 0;  ///< coll_sn
    bool has_clock = false;
    MeasuredExchange exchange;
  };

  void read_line(const json& object) {
    const bool collective = object.contains("coll_perf");
    if (!collective && !object.contains("p2p_perf")) return;  // dump_stats, and what comes later
    const json& header = member(object, "header");
    const json& perf = member(object, collective ? "coll_perf" : "p2p_perf");
    const auto rank = count_in(member(header, "rank")), ranks = count_in(member(header, "n_ranks"));
    if (!rank || !ranks || *ranks == 0 || *ranks > kMaxRanks || *rank >= *ranks) {
      fail(fmt::format("header: expected rank below n_ranks, n_ranks 1 to {}", kMaxRanks));
    }
    Record record;
    record.line = line_;
    record.process = process_of(member(object, "metadata"));
    record.communicator = communicator_of(header, *ranks);
    Communicator& in = communicators_[record.communicator];
    const auto [seen, is_new] = in.process_of.try_emplace(*rank, record.process);
    if (!is_new && seen->second != record.process) {
      fail(fmt::format("rank {} of communicator {} in two processes", *rank, in.name));
    }
    read_perf(perf, collective ? "coll" : "p2p", *ranks, record);
  }

  void read_perf(const json& perf, const std::string& prefix, uint64_t ranks, Record& record) {
    const auto field = [&](const char* key) -> const json& {
      return member(perf, (prefix + key).c_str());
    };
    const std::string called = text_in(member(perf, prefix.c_str()));
    const MeasuredName is = measured_name(called);
    const auto size = count_in(field("_msg_size_bytes"));
    const auto number = count_in(field("_sn"));
    const auto time = ns_of_us(field("_exec_time_us"));
    if (!size || !number || !time || *time < 0 || *size > kMaxMeasuredElements) {
      fail(fmt::format("{0}: expected {0}_sn, {0}_msg_size_bytes and {0}_exec_time_us", prefix));
    }
    MeasuredExchange& exchange = record.exchange;
    exchange.line = line_;
    exchange.bytes = *size;
    record.number = *number;
    const auto begin = begin_of(member(perf, "event_trace_ts"), prefix);
    record.has_clock = begin.has_value();
    exchange.begin_ns = begin.value_or(0);
    exchange.end_ns = exchange.begin_ns + *time;
    if (is.kind == MeasuredKind::kCollective) {
      exchange.collective = is.collective;
      const bool of_a_part =
          is.collective == Collective::kAllGather || is.collective == Collective::kReduceScatter;
      if (of_a_part) exchange.bytes *= ranks;
    } else if (is.kind == MeasuredKind::kSend || is.kind == MeasuredKind::kReceive) {
      exchange.what = is.kind == MeasuredKind::kSend ? MeasuredExchange::What::kSend
                                                     : MeasuredExchange::What::kReceive;
      const auto peer = count_in(field("_peer"));
      if (!peer || *peer >= ranks) fail("p2p_peer is no rank of the communicator");
      exchange.ranks = {static_cast<uint32_t>(*peer)};  // in the communicator; see made()
    } else {
      ++left_out_[record.process];
      return;
    }
    if (records_.size() >= kMaxOps) fail("too many exchanges");
    records_.push_back(std::move(record));
  }

  /// Of the kernels the first, else when the exchange was asked for.
  static std::optional<int64_t> begin_of(const json& times, const std::string& prefix) {
    std::optional<int64_t> begin;
    const json& kernels = member(times, "kernel_events");
    if (kernels.is_array()) {
      for (const json& kernel : kernels) {
        const auto at = ns_of_us(member(kernel, "kernel_start_ts"));
        if (at && *at > 0 && (!begin || *at < *begin)) begin = at;
      }
    }
    return begin ? begin : ns_of_us(member(times, (prefix + "_start_ts").c_str()));
  }

  uint32_t process_of(const json& metadata) {
    const auto key = std::pair(text_in(member(metadata, "hostname")),
                               count_in(member(metadata, "pid")).value_or(0));
    const auto [found, is_new] =
        processes_.try_emplace(key, static_cast<uint32_t>(processes_.size()));
    if (processes_.size() > kMaxProcesses) fail("too many processes");
    return found->second;
  }

  uint32_t communicator_of(const json& header, uint64_t ranks) {
    const std::string id = text_in(member(header, "id"));
    const auto [found, is_new] =
        by_id_.try_emplace(id, static_cast<uint32_t>(communicators_.size()));
    if (is_new) {
      if (communicators_.size() >= kMaxGroups) fail("too many communicators");
      const std::string called = text_in(member(header, "comm_name"));
      communicators_.push_back({called.empty() ? id : called, ranks, {}});
    }
    if (communicators_[found->second].ranks != ranks) {
      fail(fmt::format("communicator {} of {} ranks and of {}", visible(id.substr(0, 40)),
                       communicators_[found->second].ranks, ranks));
    }
    return found->second;
  }

  void number_processes() {
    const Communicator* largest = &communicators_.front();
    for (const Communicator& one : communicators_) {
      if (one.ranks > largest->ranks) largest = &one;
      if (one.process_of.size() == one.ranks) continue;
      throw InputError(
          fmt::format("{}: communicator {}: lines of {} of its {} ranks: give those of "
                      "all processes, one file behind the other",
                      name_, visible(one.name.substr(0, 40)), one.process_of.size(), one.ranks));
    }
    rank_of_.assign(processes_.size(), kMaxRanks);
    uint32_t next = 0;
    for (const auto& [rank, process] : largest->process_of) {
      if (rank_of_[process] != kMaxRanks) {
        throw InputError(name_ +
                         ": one process (hostname and pid) has two ranks of a communicator");
      }
      rank_of_[process] = next++;
    }
    for (uint32_t& rank : rank_of_) {
      if (rank == kMaxRanks) rank = next++;
    }
    if (next > kMaxRanks) throw InputError(fmt::format("{}: more than {} ranks", name_, kMaxRanks));
  }

  std::vector<MeasuredRank> made() {
    std::vector<MeasuredRank> ranks(processes_.size());
    const bool has_clock = std::all_of(records_.begin(), records_.end(),
                                       [](const Record& one) { return one.has_clock; });
    // With a clock by their beginning; without one as they stand, those of a communicator by their number.
    std::stable_sort(records_.begin(), records_.end(), [&](const Record& a, const Record& b) {
      const int64_t at_a = has_clock ? a.exchange.begin_ns : 0;
      const int64_t at_b = has_clock ? b.exchange.begin_ns : 0;
      return std::tuple(a.process, at_a) < std::tuple(b.process, at_b);
    });
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> last_number;
    std::vector<int64_t> first(ranks.size(), INT64_MAX);
    for (Record& record : records_) {
      const Communicator& in = communicators_[record.communicator];
      MeasuredRank& rank = ranks[rank_of_[record.process]];
      MeasuredExchange& exchange = record.exchange;
      const bool collective = exchange.what == MeasuredExchange::What::kCollective;
      if (collective) {
        uint64_t& last = last_number[{record.process, record.communicator}];
        if (record.number <= last && last > 0) {
          throw InputError(
              fmt::format("{}:{}: coll_sn {} behind {}", name_, record.line, record.number, last));
        }
        last = record.number;
        for (const auto& [place, process] : in.process_of) {
          exchange.ranks.push_back(rank_of_[process]);
        }
      } else {
        exchange.ranks.front() = rank_of_[in.process_of.at(exchange.ranks.front())];
      }
      exchange.group = in.name;
      if (!has_clock) {
        const auto place = static_cast<int64_t>(rank.exchanges.size());
        exchange.begin_ns = exchange.end_ns = place;
      }
      int64_t& begin = first[rank_of_[record.process]];
      begin = std::min(begin, exchange.begin_ns);
      rank.exchanges.push_back(std::move(exchange));
    }
    for (uint32_t i = 0; i < ranks.size(); ++i) {
      ranks[i].has_clock = has_clock;
      for (MeasuredExchange& one : ranks[i].exchanges) {
        one.begin_ns -= first[i];
        one.end_ns -= first[i];
      }
    }
    for (const auto& [process, count] : left_out_) ranks[rank_of_[process]].left_out = count;
    return ranks;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}:{}: {}", name_, line_, what));
  }

  const std::string& name_;
  uint32_t line_ = 0;
  std::vector<Record> records_;
  std::map<std::pair<std::string, uint64_t>, uint32_t> processes_;
  std::map<std::string, uint32_t> by_id_;
  std::vector<Communicator> communicators_;
  std::vector<uint32_t> rank_of_;  ///< by process
  std::map<uint32_t, uint64_t> left_out_;
};

}  // namespace

std::vector<MeasuredRank> read_inspector(std::string_view text, const std::string& name) {
  return InspectorReader(name).read(text);
}

}  // namespace mrclab::job
