#include "job/import/measured_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

#include "fabric/text/counted_noun.h"
#include "fabric/text/input_error.h"
#include "fabric/text/visible_text.h"

namespace mrclab::job {
namespace {

/// The groups of others, which lie as one that is known: ranks first, first + stride, ...
struct GroupShape {
  uint32_t stride = 1, size = 1;
};

class JobMaker {
 public:
  JobMaker(TraceFormat format, const std::vector<MeasuredRank>& ranks, const std::string& name,
           const TraceOptions& options)
      : measured_(ranks),
        name_(name),
        alone_(ranks.size() == 1),
        trace_{format, OpGraph(count_ranks(options))} {}

  Trace make() {
    uint64_t left_out = 0, messages = 0;
    bool has_clock = true;
    for (const MeasuredRank& rank : measured_) {
      left_out += rank.left_out;
      has_clock = has_clock && rank.has_clock;
      for (const MeasuredExchange& one : rank.exchanges) {
        messages += one.what != MeasuredExchange::What::kCollective;
      }
    }
    trace_.steps = count_steps();
    for (uint32_t rank = 0; rank < trace_.graph.ranks(); ++rank) {
      add_rank(measured_[alone_ ? 0 : rank], rank);
    }
    if (trace_.steps == 1) trace_.step_of.clear();
    if (alone_ && trace_.graph.ranks() > 1) {
      note(fmt::format("one rank was measured: all {} do the same in their own groups",
                       trace_.graph.ranks()));
      if (messages > 0) {
        note(fmt::format("{} between two ranks left out: what the peer does was not measured",
                         counted_noun(messages, "message")));
      }
    }
    if (!has_clock) note("no times of computing were measured: exchanges alone, in their order");
    if (left_out > 0) {
      note(fmt::format("{} left out: reduce, gather and scatter are not supported",
                       counted_noun(left_out, "exchange")));
    }
    return std::move(trace_);
  }

 private:
  void note(std::string text) { trace_.notes.push_back(std::move(text)); }
  [[noreturn]] void fail(const std::string& what) const { throw InputError(name_ + ": " + what); }

  uint32_t count_ranks(const TraceOptions& options) const {
    uint64_t most = measured_.size();
    for (const MeasuredRank& rank : measured_) {
      if (rank.exchanges.size() > kMaxExchangesOfRank) {
        fail(fmt::format("more than {} exchanges of a rank", kMaxExchangesOfRank));
      }
      for (const MeasuredExchange& one : rank.exchanges) {
        if (alone_ && one.what != MeasuredExchange::What::kCollective) continue;
        for (const uint32_t member : one.ranks)
          most = std::max<uint64_t>(most, member + uint64_t{1});
      }
    }
    if (!alone_ && most > measured_.size()) {
      fail(
          fmt::format("rank {} takes part, and {} ranks were measured: give the files of all, or "
                      "of one alone",
                      most - 1, measured_.size()));
    }
    if (alone_ && options.ranks) most = std::max<uint64_t>(most, *options.ranks);
    if (most > kMaxRanks) fail(fmt::format("{} ranks: a job has at most {}", most, kMaxRanks));
    return static_cast<uint32_t>(std::max<uint64_t>(most, 1));
  }

  uint32_t count_steps() {
    const size_t marked = measured_.front().steps.size();
    for (const MeasuredRank& rank : measured_) {
      if (rank.steps.size() > kMaxMeasuredSteps) {
        fail(fmt::format("more than {} steps", kMaxMeasuredSteps));
      }
      if (rank.steps.size() == marked) continue;
      note(fmt::format("ranks have marked {} and {} steps: all is taken as one", marked,
                       rank.steps.size()));
      return 1;
    }
    return static_cast<uint32_t>(std::max<size_t>(marked, 1));
  }

  uint32_t step_at(const MeasuredRank& measured, int64_t ns) const {
    if (trace_.steps == 1) return 0;
    const auto next = std::upper_bound(measured.steps.begin(), measured.steps.end(), ns);
    return static_cast<uint32_t>(std::max<ptrdiff_t>(next - measured.steps.begin(), 1) - 1);
  }

  uint32_t add(const Op& op, uint32_t step, const std::vector<Dependency>& waits) {
    trace_.step_of.push_back(step);
    return trace_.graph.add(op, waits);
  }

  GroupShape shape_of(const MeasuredExchange& exchange) const {
    GroupShape shape;
    shape.size = static_cast<uint32_t>(exchange.ranks.size());
    if (shape.size < 2) return shape;
    const int64_t stride = int64_t{exchange.ranks[1]} - exchange.ranks[0];
    for (size_t i = 1; i < exchange.ranks.size(); ++i) {
      if (stride < 1 || int64_t{exchange.ranks[i]} - exchange.ranks[i - 1] != stride) {
        fail(
            fmt::format("group {} has ranks at no even distance, so that the groups of others are "
                        "unknown: give the files of all ranks",
                        visible(exchange.group.substr(0, 40))));
      }
    }
    shape.stride = static_cast<uint32_t>(stride);
    if (trace_.graph.ranks() % (shape.stride * shape.size) != 0) {
      fail(
          fmt::format("{} ranks: expected a multiple of {}, as group {} has {} ranks at distance "
                      "{}",
                      trace_.graph.ranks(), shape.stride * shape.size,
                      visible(exchange.group.substr(0, 40)), shape.size, shape.stride));
    }
    return shape;
  }

  uint32_t group_of(const MeasuredExchange& exchange, uint32_t rank) {
    std::vector<uint32_t> members = exchange.ranks;
    if (alone_) {
      const GroupShape shape = shape_of(exchange);
      const uint32_t block = shape.stride * shape.size;
      const uint32_t first = rank / block * block + rank % shape.stride;
      for (uint32_t i = 0; i < shape.size; ++i) members[i] = first + i * shape.stride;
    }
    if (std::find(members.begin(), members.end(), rank) == members.end()) {
      fail(fmt::format("rank {} exchanges in group {}, which it is none of", rank,
                       visible(exchange.group.substr(0, 40))));
    }
    const std::string name = exchange.group.empty() ? "all" : exchange.group;
    return trace_.graph.add_group(name.substr(0, kMaxLabel), std::move(members));
  }

  /// An instant at which an exchange begins, or ends.
  struct Cut {
    int64_t at = 0;
    uint8_t order = 0;  ///< what ends before what begins, but for what takes no time
    uint32_t exchange = 0;
    bool begins = false;
    auto operator<=>(const Cut&) const = default;
  };

  std::vector<Cut> cuts_of(const MeasuredRank& measured) const {
    std::vector<Cut> cuts;
    for (uint32_t i = 0; i < measured.exchanges.size(); ++i) {
      const MeasuredExchange& one = measured.exchanges[i];
      if (alone_ && one.what != MeasuredExchange::What::kCollective) continue;
      if (one.end_ns < one.begin_ns || one.begin_ns < -kMaxMeasuredNs ||
          one.end_ns > kMaxMeasuredNs) {
        fail(fmt::format("exchange {} of {}: times from {} ns to {} ns are none", i,
                         visible(one.group.substr(0, 40)), one.begin_ns, one.end_ns));
      }
      cuts.push_back({one.begin_ns, 1, i, true});
      cuts.push_back(
          {one.end_ns, static_cast<uint8_t>(one.end_ns == one.begin_ns ? 2 : 0), i, false});
    }
    std::sort(cuts.begin(), cuts.end());
    return cuts;
  }

  /// What the next operation of a rank waits for. What itself waited for others stands for them.
  class Behind {
   public:
    uint64_t now() const { return next_; }
    std::vector<Dependency> waits() const {
      std::vector<Dependency> list;
      for (const auto& [number, op] : ops_) list.push_back({op});
      return list;
    }
    void only(uint32_t op) {
      ops_.clear();
      ops_.emplace_back(next_++, op);
    }
    /// `begun_at`: now() when it began, and waited for all that was there.
    void ended(uint32_t op, uint64_t begun_at) {
      std::erase_if(ops_, [&](const auto& one) { return one.first < begun_at; });
      ops_.emplace_back(next_++, op);
    }

   private:
    std::vector<std::pair<uint64_t, uint32_t>> ops_;
    uint64_t next_ = 0;
  };

  /// Kernels that overlap count once; in order.
  static std::vector<MeasuredKernel> joined_kernels(const MeasuredRank& measured) {
    std::vector<MeasuredKernel> kernels = measured.kernels, joined;
    std::sort(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) {
      return std::pair(a.begin_ns, a.end_ns) < std::pair(b.begin_ns, b.end_ns);
    });
    for (const MeasuredKernel& kernel : kernels) {
      if (kernel.end_ns <= kernel.begin_ns) continue;
      if (!joined.empty() && kernel.begin_ns <= joined.back().end_ns) {
        joined.back().end_ns = std::max(joined.back().end_ns, kernel.end_ns);
      } else {
        joined.push_back(kernel);
      }
    }
    return joined;
  }

  void add_rank(const MeasuredRank& measured, uint32_t rank) {
    const std::vector<Cut> cuts = cuts_of(measured);
    const std::vector<MeasuredKernel> kernels = joined_kernels(measured);
    if (cuts.empty() && kernels.empty()) return;
    int64_t now = cuts.empty() ? kernels.front().begin_ns : cuts.front().at;
    int64_t last = cuts.empty() ? now : cuts.back().at;
    if (!kernels.empty()) {
      now = std::min(now, kernels.front().begin_ns);
      last = std::max(last, kernels.back().end_ns);
    }
    if (last - now > kMaxMeasuredNs) fail("times further apart than 26 days");
    Behind behind;
    std::map<std::string, uint32_t> last_of_group;
    std::vector<uint32_t> op_of(measured.exchanges.size());
    std::vector<uint64_t> begun_at(measured.exchanges.size());
    uint32_t under_way = 0;
    size_t kernel = 0;
    const auto compute_until = [&](int64_t until) {
      int64_t busy = 0;
      while (kernel < kernels.size() && kernels[kernel].end_ns <= now) ++kernel;
      for (size_t i = kernel; i < kernels.size() && kernels[i].begin_ns < until; ++i) {
        busy += std::min(kernels[i].end_ns, until) - std::max(kernels[i].begin_ns, now);
      }
      const int64_t ns = !measured.has_clock ? 0 : under_way > 0 ? busy : until - now;
      const uint32_t step = step_at(measured, now);
      now = until;
      if (ns <= 0) return;
      Op op;
      op.rank = rank;
      op.duration = FabricTime::from_ns(ns);
      behind.only(add(op, step, behind.waits()));
    };
    // Computing that a mark is in belongs to both of its steps.
    size_t mark = 0;
    const auto compute_to = [&](int64_t until) {
      for (; trace_.steps > 1 && mark < measured.steps.size() && measured.steps[mark] < until;
           ++mark) {
        if (measured.steps[mark] > now) compute_until(measured.steps[mark]);
      }
      compute_until(until);
    };
    for (const Cut& cut : cuts) {
      compute_to(cut.at);
      const MeasuredExchange& exchange = measured.exchanges[cut.exchange];
      if (!cut.begins) {
        --under_way;
        behind.ended(op_of[cut.exchange], begun_at[cut.exchange]);
        continue;
      }
      ++under_way;
      begun_at[cut.exchange] = behind.now();
      std::vector<Dependency> waits = behind.waits();
      const auto [in_group, is_first] = last_of_group.try_emplace(exchange.group, 0);
      if (!is_first) waits.push_back({in_group->second});
      std::sort(waits.begin(), waits.end());
      waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
      op_of[cut.exchange] = in_group->second =
          add(op_for(exchange, rank), step_at(measured, exchange.begin_ns), waits);
    }
    compute_to(last);
  }

  Op op_for(const MeasuredExchange& exchange, uint32_t rank) {
    Op op;
    op.rank = rank;
    op.line = exchange.line;
    op.bytes = exchange.bytes;
    if (exchange.what == MeasuredExchange::What::kCollective) {
      op.kind = OpKind::kCollective;
      op.collective = exchange.collective;
      op.group = group_of(exchange, rank);
      if (op.collective == Collective::kBroadcast) {
        const std::vector<uint32_t>& members = trace_.graph.groups()[op.group].ranks;
        op.peer = members[exchange.root < members.size() ? exchange.root : 0];
      }
      return op;
    }
    op.kind = exchange.what == MeasuredExchange::What::kSend ? OpKind::kSend : OpKind::kReceive;
    op.peer = exchange.ranks.empty() ? kMaxRanks : exchange.ranks.front();
    return op;
  }

  const std::vector<MeasuredRank>& measured_;
  const std::string& name_;
  bool alone_;
  Trace trace_;
};

/// Letters and digits alone, in lower case: "_allgather_base" and "AllGather" then begin alike.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name.substr(0, kMaxLabel)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return text;
}

}  // namespace

MeasuredName measured_name(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Collective>, 6> kNames{
      {{"allreduce", Collective::kAllReduce},
       {"reducescatter", Collective::kReduceScatter},
       {"allgather", Collective::kAllGather},
       {"alltoall", Collective::kAllToAll},
       {"broadcast", Collective::kBroadcast},
       {"barrier", Collective::kBarrier}}};
  const std::string text = plain(name);
  for (const auto& [word, collective] : kNames) {
    if (text.find(word) != std::string::npos) return {MeasuredKind::kCollective, collective};
  }
  if (text == "wait") return {MeasuredKind::kWait};
  if (text == "send" || text == "isend" || text == "ncclsend") return {MeasuredKind::kSend};
  if (text == "recv" || text == "irecv" || text == "ncclrecv" || text == "receive") {
    return {MeasuredKind::kReceive};
  }
  return {};
}

uint64_t element_bytes(std::string_view type) {
  static const std::map<std::string, uint64_t, std::less<>> kBytes{
      {"float", 4},         {"float32", 4},        {"double", 8},         {"float64", 8},
      {"half", 2},          {"c10half", 2},        {"float16", 2},        {"bfloat16", 2},
      {"c10bfloat16", 2},   {"long", 8},           {"longint", 8},        {"int64", 8},
      {"int", 4},           {"int32", 4},          {"short", 2},          {"shortint", 2},
      {"int16", 2},         {"char", 1},           {"signedchar", 1},     {"int8", 1},
      {"byte", 1},          {"unsignedchar", 1},   {"uint8", 1},          {"bool", 1},
      {"uint16", 2},        {"uint32", 4},         {"uint64", 8},         {"float8e4m3fn", 1},
      {"float8e5m2", 1},    {"float8e4m3fnuz", 1}, {"float8e5m2fnuz", 1}, {"complexfloat", 8},
      {"complexdouble", 16}};
  const auto found = kBytes.find(plain(type));
  return found == kBytes.end() ? 0 : found->second;
}

Trace measured_job(TraceFormat format, const std::vector<MeasuredRank>& ranks,
                   const std::string& name, const TraceOptions& options) {
  if (ranks.empty()) throw InputError(name + ": no rank was measured");
  return JobMaker(format, ranks, name, options).make();
}

}  // namespace mrclab::job
