#include "job/import/measured_processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "fabric/text/input_error.h"
#include "fabric/text/visible_text.h"

namespace mrclab::job {
namespace {

constexpr size_t kMaxProcesses = 4 * kMaxRanks;

}  // namespace

uint32_t MeasuredProcesses::process(const std::string& host, uint64_t number, uint32_t line) {
  const auto [found, is_new] =
      processes_.try_emplace(std::pair(host, number), static_cast<uint32_t>(processes_.size()));
  if (processes_.size() > kMaxProcesses) fail(line, "too many processes");
  return found->second;
}

uint32_t MeasuredProcesses::communicator(const std::string& id, const std::string& called,
                                         uint64_t ranks, uint32_t line) {
  const auto [found, is_new] = by_id_.try_emplace(id, static_cast<uint32_t>(communicators_.size()));
  if (is_new) {
    if (communicators_.size() >= kMaxGroups) fail(line, "too many communicators");
    communicators_.push_back({called.empty() ? id : called, ranks, {}, {}});
  }
  if (communicators_[found->second].ranks != ranks) {
    fail(line, fmt::format("communicator {} of {} ranks and of {}", visible(id.substr(0, 40)),
                           communicators_[found->second].ranks, ranks));
  }
  return found->second;
}

void MeasuredProcesses::join(uint32_t communicator, uint64_t rank, uint32_t process,
                             uint32_t line) {
  Communicator& in = communicators_[communicator];
  const auto [seen, is_new] = in.process_of.try_emplace(rank, process);
  if (!is_new && seen->second != process) {
    fail(line, fmt::format("rank {} of communicator {} in two processes", rank,
                           visible(in.name.substr(0, 40))));
  }
}

void MeasuredProcesses::set_ring(uint32_t communicator, std::vector<uint32_t> ranks) {
  Communicator& in = communicators_[communicator];
  const std::set<uint32_t> all(ranks.begin(), ranks.end());
  if (ranks.size() != in.ranks || all.size() != in.ranks || *all.rbegin() + 1 != in.ranks) return;
  in.ring = std::move(ranks);
}

void MeasuredProcesses::add(Record record) {
  if (records_.size() >= kMaxOps) fail(record.line, "too many exchanges");
  records_.push_back(std::move(record));
}

void MeasuredProcesses::fail(uint32_t line, const std::string& what) const {
  throw InputError(fmt::format("{}:{}: {}", name_, line, what));
}

void MeasuredProcesses::number() {
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
      throw InputError(name_ + ": one process (hostname and pid) has two ranks of a communicator");
    }
    rank_of_[process] = next++;
  }
  for (uint32_t& rank : rank_of_) {
    if (rank == kMaxRanks) rank = next++;
  }
  if (next > kMaxRanks) throw InputError(fmt::format("{}: more than {} ranks", name_, kMaxRanks));
}

std::vector<MeasuredRank> MeasuredProcesses::made() {
  if (records_.empty()) throw InputError(name_ + ": no exchange");
  number();
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
            fmt::format("{}:{}: collective {} behind {}", name_, record.line, record.number, last));
      }
      last = record.number;
      const uint32_t root = exchange.root;  // by its rank in the communicator until here
      for (uint32_t place = 0; place < in.ranks; ++place) {
        const uint32_t member = in.ring.empty() ? place : in.ring[place];
        if (member == root) exchange.root = place;
        exchange.ranks.push_back(rank_of_[in.process_of.at(member)]);
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

}  // namespace mrclab::job
