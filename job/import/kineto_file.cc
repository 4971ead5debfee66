#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fabric/text/input_error.h"
#include "fabric/text/visible_text.h"
#include "job/import/json_elements.h"
#include "job/import/measured_fields.h"
#include "job/import/pytorch_file.h"

namespace mrclab::job {
namespace {

using nlohmann::json;

constexpr size_t kMaxKernels = 20'000'000;

class KinetoReader {
 public:
  explicit KinetoReader(const std::string& name) : name_(name) {}

  MeasuredRank read(std::string_view text) {
    for_each_element(text, name_,
                     {.key = "traceEvents",
                      .wanted = {},
                      .element = [&](json&& event) { read_event(event); },
                      .member = {}});
    if (rank_.exchanges.empty() && rank_.kernels.empty()) {
      throw InputError(name_ + ": no kernel of a GPU: was the profiler told to record CUDA?");
    }
    std::stable_sort(rank_.exchanges.begin(), rank_.exchanges.end(),
                     [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
    start_at_zero();
    return std::move(rank_);
  }

 private:
  void read_event(const json& event) {
    ++number_;
    if (text_in(member(event, "ph")) != "X") return;
    const std::string category = text_in(member(event, "cat"));
    if (category == "gpu_user_annotation" || category == "user_annotation") {
      return read_mark(event, category == "user_annotation");
    }
    if (category != "kernel" && category != "gpu_memcpy" && category != "gpu_memset") return;
    const auto begin = ns_of_us(member(event, "ts")), time = ns_of_us(member(event, "dur"));
    if (!begin || !time || *time < 0) fail("ts and dur are no times");
    const json& args = member(event, "args");
    const std::string called = text_in(member(args, "Collective name"));
    if (called.empty()) {
      // NCCL's own kernels compute nothing, named or not.
      if (text_in(member(event, "name")).find("nccl") != std::string::npos) {
        ++rank_.left_out;
        return;
      }
      if (rank_.kernels.size() >= kMaxKernels) fail("too many kernels");
      rank_.kernels.push_back({*begin, *begin + *time});
      return;
    }
    read_exchange(args, called, *begin, *begin + *time);
  }

  /// "ProfilerStep#12" of torch.profiler's step(): on the GPU once for each stream, and on the host, which is ahead of it.
  void read_mark(const json& event, bool of_host) {
    constexpr std::string_view kStep = "ProfilerStep#";
    const std::string called = text_in(member(event, "name"));
    if (!called.starts_with(kStep)) return;
    const auto number = count_in(json(called.substr(kStep.size())));
    const auto begin = ns_of_us(member(event, "ts"));
    if (!number || !begin) fail("ProfilerStep: no number, or ts is no time");
    auto& marks = of_host ? host_marks_ : gpu_marks_;
    const auto [mark, is_new] = marks.try_emplace(*number, *begin);
    if (!is_new) mark->second = std::min(mark->second, *begin);
    if (marks.size() > kMaxMeasuredSteps) fail("more than 10,000 steps");
  }

  void read_exchange(const json& args, const std::string& called, int64_t begin, int64_t end) {
    const MeasuredName is = measured_name(called);
    if (is.kind == MeasuredKind::kOther || is.kind == MeasuredKind::kWait) {
      rank_.left_out += is.kind == MeasuredKind::kOther;
      return;
    }
    MeasuredExchange exchange;
    exchange.begin_ns = begin;
    exchange.end_ns = end;
    exchange.group = text_in(member(args, "Process Group Name"));
    const uint64_t in = count_in(member(args, "In msg nelems")).value_or(0);
    const uint64_t out = count_in(member(args, "Out msg nelems")).value_or(0);
    const std::string type = text_in(member(args, "dtype"));
    const uint64_t bytes = element_bytes(type);
    if (in > kMaxMeasuredElements || out > kMaxMeasuredElements) fail("more than 2^48 elements");
    if (bytes == 0) fail(fmt::format("unknown dtype \"{}\"", visible(type.substr(0, 40))));
    exchange.bytes = bytes * in;
    if (is.kind == MeasuredKind::kCollective) {
      exchange.collective = is.collective;
      if (is.collective == Collective::kAllGather) exchange.bytes = bytes * out;
      if (is.collective == Collective::kBarrier) exchange.bytes = 0;
      exchange.ranks = members(args, exchange.group);
    } else {
      const bool sends = is.kind == MeasuredKind::kSend;
      exchange.what = sends ? MeasuredExchange::What::kSend : MeasuredExchange::What::kReceive;
      const auto peer = count_in(member(args, sends ? "Dst Rank" : "Src Rank"));
      if (!peer || *peer >= kMaxRanks) fail("no rank of the peer");
      exchange.ranks = {static_cast<uint32_t>(*peer)};
      if (!sends) exchange.bytes = bytes * out;
    }
    if (rank_.exchanges.size() >= kMaxExchangesOfRank) fail("too many exchanges");
    rank_.exchanges.push_back(std::move(exchange));
  }

  /// A list that PyTorch has cut ("[0, 1, ...]") goes on as it began, up to the group's size.
  std::vector<uint32_t> members(const json& args, const std::string& group) {
    const uint64_t size = count_in(member(args, "Group size")).value_or(0);
    const json& list = member(args, "Process Group Ranks");
    std::vector<uint32_t> ranks = ranks_in(list);
    if (ranks.empty()) {
      std::string text = text_in(list);
      const size_t cut = text.find(", ...");
      if (cut != std::string::npos) ranks = ranks_in(json(text.substr(0, cut) + "]"));
      if (ranks.size() > 1 && ranks[1] > ranks[0]) {
        ranks = ranks_from(ranks[0], ranks[1] - ranks[0], size);
      } else if (text.empty() || cut != std::string::npos) {
        ranks = ranks_from(ranks.empty() ? 0 : ranks[0], 1, size);
      }
    }
    if (ranks.empty() || (size > 0 && ranks.size() != size)) {
      fail(fmt::format("group \"{}\" of size {}: \"Process Group Ranks\" has {}",
                       visible(group.substr(0, 40)), size, ranks.size()));
    }
    return ranks;
  }

  /// Time stamps count from 1970; a job from its start.
  void start_at_zero() {
    for (const auto& [number, begin] : gpu_marks_.empty() ? host_marks_ : gpu_marks_) {
      rank_.steps.push_back(begin);
    }
    std::sort(rank_.steps.begin(), rank_.steps.end());
    int64_t first = INT64_MAX;
    for (const MeasuredExchange& one : rank_.exchanges) first = std::min(first, one.begin_ns);
    for (const MeasuredKernel& one : rank_.kernels) first = std::min(first, one.begin_ns);
    for (MeasuredExchange& one : rank_.exchanges) one.begin_ns -= first, one.end_ns -= first;
    for (MeasuredKernel& one : rank_.kernels) one.begin_ns -= first, one.end_ns -= first;
    for (int64_t& begin : rank_.steps) begin -= first;
    for (const MeasuredKernel& one : rank_.kernels) {
      if (one.end_ns > kMaxMeasuredNs)
        throw InputError(name_ + ": kernels further apart than 26 days");
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}: event {} of traceEvents: {}", name_, number_, what));
  }

  const std::string& name_;
  MeasuredRank rank_;
  std::map<uint64_t, int64_t> gpu_marks_, host_marks_;  ///< by step: when it began
  uint64_t number_ = 0;
};

}  // namespace

MeasuredRank read_kineto(std::string_view text, const std::string& name) {
  return KinetoReader(name).read(text);
}

std::optional<uint32_t> kineto_rank(std::string_view text, const std::string& name) {
  std::optional<uint64_t> rank;
  for_each_element(
      text, name,
      {.key = {},
       .wanted = {"distributedInfo"},
       .element = {},
       .member = [&](const std::string&, json&& info) { rank = count_in(member(info, "rank")); }});
  if (!rank || *rank >= kMaxRanks) return std::nullopt;
  return static_cast<uint32_t>(*rank);
}

}  // namespace mrclab::job
