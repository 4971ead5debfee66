#include "job/serve/serve_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "fabric/text/input_error.h"
#include "job/plan/model_shape.h"
#include "job/serve/cache_size.h"

namespace mrclab::job {
namespace {

/// What the schedule takes a network for, where it counts iterations: as fast as any that runs them, so that there are
/// enough of them. Our choice.
constexpr BitRate kScheduleRate = BitRate::from_gbps(800);
constexpr FabricTime kScheduleLatency = FabricTime::from_us(3);
/// And for the slowest that a cache may come over before what is spare is needed.
constexpr BitRate kSlowScheduleRate = BitRate::from_gbps(100);

/// A request that a decode rank has to serve.
struct Landing {
  FabricTime at;
  uint32_t request = 0;
  uint32_t rank = 0;  ///< in its group
  auto operator<=>(const Landing&) const = default;
};

class Scheduler {
 public:
  Scheduler(const ServeSpec& spec, const std::vector<Request>& requests)
      : spec_(spec),
        shape_(model_shape(spec.model.preset)),
        requests_(requests),
        step_(std::max(compressed(spec, spec.decode.step), kPicosecond)) {}

  ServeSchedule make() {
    schedule_.served_by.resize(requests_.size());
    assign_prefill();
    assign_decode();
    const size_t groups = spec_.decode.hosts.size() / spec_.decode.ep;
    for (size_t group = 0; group < groups; ++group) {
      schedule_.iterations.push_back(iterations_of(static_cast<uint32_t>(group)));
    }
    return std::move(schedule_);
  }

 private:
  /// To the rank that is free first.
  void assign_prefill() {
    std::vector<FabricTime> free(spec_.prefill.hosts.size());
    for (size_t i = 0; i < requests_.size(); ++i) {
      const Request& request = requests_[i];
      const auto rank = std::min_element(free.begin(), free.end()) - free.begin();
      schedule_.served_by[i].prefill = static_cast<uint32_t>(rank);
      const FabricTime whole = compressed(spec_, spec_.prefill.token * request.input);
      free[rank] = std::max(free[rank], request.arrival) + whole;
      if (free[rank] > kMaxServeTime) {
        throw InputError(
            fmt::format("prompts that are computed later than {} of the run: expected "
                        "fewer or shorter ones, or a smaller \"scale\"",
                        to_string(kMaxServeTime)));
      }
      const uint64_t bytes =
          cache_bytes(shape_, spec_.model) * spec_.model.blocks * request.input / spec_.scale;
      largest_cache_ = std::max(largest_cache_, bytes);
      landings_.push_back(
          {free[rank] + serialization_time({bytes}, kScheduleRate), static_cast<uint32_t>(i)});
    }
    std::sort(landings_.begin(), landings_.end());
  }

  /// To the rank with the fewest requests whose answers have not ended.
  void assign_decode() {
    std::vector<std::vector<FabricTime>> ends(spec_.decode.hosts.size());
    for (Landing& landing : landings_) {
      size_t least = 0;
      for (size_t rank = 0; rank < ends.size(); ++rank) {
        std::erase_if(ends[rank], [&](FabricTime end) { return end <= landing.at; });
        if (ends[rank].size() < ends[least].size()) least = rank;
      }
      ends[least].push_back(landing.at + step_ * requests_[landing.request].output);
      schedule_.served_by[landing.request].decode = static_cast<uint32_t>(least);
      landing.rank = static_cast<uint32_t>(least);
    }
  }

  /// Two all-to-alls in each layer, and what the ranks compute.
  FabricTime iteration_time(uint32_t tokens) const {
    if (spec_.decode.ep == 1) return step_;
    const uint64_t bytes =
        (dispatch_bytes(shape_, spec_.model, tokens) + combine_bytes(shape_, tokens)) / spec_.scale;
    return step_ +
           (serialization_time({bytes}, kScheduleRate) + kScheduleLatency * 2) * spec_.model.blocks;
  }

  std::vector<ScheduledIteration> iterations_of(uint32_t group) {
    const uint32_t ep = spec_.decode.ep;
    std::deque<Landing> coming;
    for (const Landing& landing : landings_) {
      if (landing.rank / ep == group)
        coming.push_back({landing.at, landing.request, landing.rank % ep});
    }
    std::vector<ScheduledIteration> iterations;
    std::vector<std::deque<uint32_t>> waiting(ep);  // requests
    std::vector<std::vector<uint32_t>> batch(ep);   // tokens that are left
    FabricTime now;
    const FabricTime later = serialization_time({largest_cache_}, kSlowScheduleRate) -
                             serialization_time({largest_cache_}, kScheduleRate);
    const uint32_t most_spare =
        spec_.decode.spare +
        static_cast<uint32_t>(std::min<int64_t>(later / iteration_time(1) + 1, kMaxIterations));
    uint32_t spare = 0;
    while (true) {
      uint32_t most = 0;
      for (; !coming.empty() && coming.front().at <= now; coming.pop_front()) {
        waiting[coming.front().rank].push_back(coming.front().request);
      }
      for (uint32_t rank = 0; rank < ep; ++rank) {
        while (!waiting[rank].empty() && batch[rank].size() < spec_.decode.batch) {
          batch[rank].push_back(requests_[waiting[rank].front()].output);
          waiting[rank].pop_front();
        }
        most = std::max(most, static_cast<uint32_t>(batch[rank].size()));
      }
      ScheduledIteration next{{}, std::max(most, 1u)};
      if (most == 0) {
        if (spare == 0) {  // a pause
          if (coming.empty()) return iterations;
          now = std::max(now, coming.front().at);
          pause_until_ = now;
          spare = most_spare;
          continue;
        }
        --spare;
      } else {
        spare = most_spare;
      }
      next.not_before = std::exchange(pause_until_, {});
      iterations.push_back(next);
      if (++count_ > kMaxIterations / ep) too_many();
      now += iteration_time(next.most_tokens);
      for (std::vector<uint32_t>& left : batch) {
        for (uint32_t& tokens : left) --tokens;
        std::erase(left, 0u);
      }
    }
  }

  [[noreturn]] static void too_many() {
    throw InputError(
        fmt::format("iterations of decode ranks: more than {}: expected fewer requests, "
                    "or shorter answers (\"output_at_most\")",
                    kMaxIterations));
  }

  const ServeSpec& spec_;
  const ModelShape& shape_;
  const std::vector<Request>& requests_;
  const FabricTime step_;
  std::vector<Landing> landings_;
  ServeSchedule schedule_;
  FabricTime pause_until_;
  uint32_t count_ = 0;
  uint64_t largest_cache_ = 0;  ///< bytes
};

}  // namespace

ServeSchedule serve_schedule(const ServeSpec& spec, const std::vector<Request>& requests) {
  return Scheduler(spec, requests).make();
}

}  // namespace mrclab::job
