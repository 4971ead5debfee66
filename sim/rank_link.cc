#include "sim/rank_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

namespace mrclab::lab {

void run_on_all_ranks(RankLink* ranks, const std::function<void()>& step) {
  if (ranks == nullptr) return step();
  std::exception_ptr failure;
  std::string problem;
  try {
    step();
  } catch (const OtherRankFailed&) {  // the rank that failed reports its own problem
  } catch (const std::exception& error) {
    failure = std::current_exception();
    problem = fmt::format("rank {} on {}: {}", ranks->rank(), ranks->machine(), error.what());
  }
  const std::vector<std::string> problems = ranks->gather(problem);
  if (failure) std::rethrow_exception(failure);
  for (const std::string& other : problems) {
    if (!other.empty()) throw std::runtime_error(other);
  }
}

FabricTime latest_of_ranks(RankLink* ranks, FabricTime own) {
  if (ranks == nullptr) return own;
  // The vote joins by the earliest alone, so the latest is the negative of the earliest negative.
  const WindowVote vote = ranks->agree({.earliest = {FabricTime::from_ps(-own.ps())}});
  return FabricTime::from_ps(-vote.earliest.front().ps());
}

void require_same_instant(RankLink* ranks, FabricTime own) {
  if (ranks == nullptr) return;
  const FabricTime earliest = ranks->agree({.earliest = {own}}).earliest.front();
  if (earliest != latest_of_ranks(ranks, own)) {
    throw std::logic_error("the ranks have different ends");
  }
}

}  // namespace mrclab::lab
