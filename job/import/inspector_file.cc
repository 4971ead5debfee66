#include "job/import/inspector_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/text/input_error.h"
#include "fabric/text/json_text.h"
#include "fabric/text/visible_text.h"
#include "job/import/measured_fields.h"
#include "job/import/measured_processes.h"

namespace mrclab::job {
namespace {

using nlohmann::json;

constexpr size_t kMaxInspectorLine = size_t{1} << 20;

class InspectorReader {
 public:
  explicit InspectorReader(const std::string& name) : name_(name), processes_(name) {}

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
    if (!any_) throw InputError(name_ + ": no coll_perf or p2p_perf");
    return processes_.made();
  }

 private:
  void read_line(const json& object) {
    const bool collective = object.contains("coll_perf");
    if (!collective && !object.contains("p2p_perf")) return;  // dump_stats, and what comes later
    const json& header = member(object, "header");
    const json& perf = member(object, collective ? "coll_perf" : "p2p_perf");
    const auto rank = count_in(member(header, "rank")), ranks = count_in(member(header, "n_ranks"));
    if (!rank || !ranks || *ranks == 0 || *ranks > kMaxRanks || *rank >= *ranks) {
      fail(fmt::format("header: expected rank below n_ranks, n_ranks 1 to {}", kMaxRanks));
    }
    const json& metadata = member(object, "metadata");
    MeasuredProcesses::Record record;
    record.line = line_;
    record.process = processes_.process(text_in(member(metadata, "hostname")),
                                        count_in(member(metadata, "pid")).value_or(0), line_);
    record.communicator = processes_.communicator(
        text_in(member(header, "id")), text_in(member(header, "comm_name")), *ranks, line_);
    processes_.join(record.communicator, *rank, record.process, line_);
    read_perf(perf, collective ? "coll" : "p2p", *ranks, record);
  }

  void read_perf(const json& perf, const std::string& prefix, uint64_t ranks,
                 MeasuredProcesses::Record& record) {
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
      exchange.ranks = {static_cast<uint32_t>(*peer)};  // in the communicator
    } else {
      return processes_.leave_out(record.process);
    }
    any_ = true;
    processes_.add(std::move(record));
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

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}:{}: {}", name_, line_, what));
  }

  const std::string& name_;
  uint32_t line_ = 0;
  MeasuredProcesses processes_;
  bool any_ = false;
};

}  // namespace

std::vector<MeasuredRank> read_inspector(std::string_view text, const std::string& name) {
  return InspectorReader(name).read(text);
}

}  // namespace mrclab::job
