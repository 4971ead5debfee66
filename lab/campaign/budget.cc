#include "lab/campaign/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <thread>

#include "console/interrupt.h"
#include "console/progress.h"
#include "console/shell_word.h"
#include "console/version.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/yaml.h"
#include "faults/draws.h"
#include "lab/campaign/coverage.h"
#include "lab/chaos/chaos.h"
#include "lab/chaos/chaos_text.h"
#include "lab/chaos/json_file.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/output_folder.h"

namespace mrclab::lab {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kStateVersion = 1;
constexpr size_t kStateMax = 64 << 20;
/// Far from what people write by hand, so that a night finds what a chaos of 1-1000 did not.
constexpr uint64_t kFirstSeed = 1'000'000'000;
constexpr uint32_t kChoiceDraws = 1 << 17;
/// So often the state is written; a killed campaign loses no more.
constexpr std::chrono::seconds kSaveEvery{10};
/// The base's number stands above the seed in the number of a task.
constexpr unsigned kBaseShift = 56;

std::string command_of(const std::string& base, uint64_t seed) {
  return fmt::format("mrclab chaos {} --seeds {}", shell_word(base), seed);
}

class BudgetRun {
 public:
  BudgetRun(const BudgetOptions& options, InterruptGuard& guard)
      : options_(options), guard_(guard), folder_(netio::OutputFolder::make(options.folder)) {
    for (const std::string& word : options.bases) {
      bases_.push_back(with_traffic(load_consented_base(word, options.programs)));
      next_.push_back(kFirstSeed);
    }
    go_on();
  }

  int run() {
    const uint32_t jobs =
        options_.jobs != 0 ? options_.jobs : std::max(1u, std::thread::hardware_concurrency());
    TaskPool pool(jobs, [this](uint64_t task) {
      return chaos_seed_text(bases_[task >> kBaseShift], seed_of(task));
    });
    start_ = SteadyClock::now();
    while (true) {
      // The first seed is run whatever the time is.
      const bool over = guard_.interrupted() || (turn_ > 0 && spent() >= options_.budget);
      while (!over && pool.idle()) pool.start(choose());
      if (over && (pool.busy() == 0 || guard_.interrupted())) break;
      if (const auto answer = pool.wait(std::chrono::milliseconds(100))) take(*answer);
      show();
      if (SteadyClock::now() - saved_ > kSaveEvery) save();
    }
    progress_.clear();
    save();
    fmt::print("{}\nseeds       {} in all; {} failed, {} of them now\n", coverage_.table(),
               coverage_.seeds(), coverage_.failed(), failed_now_);
    fmt::print("time        {} s now, {} s in all\n",
               std::chrono::duration_cast<std::chrono::seconds>(spent()).count(),
               std::chrono::duration_cast<std::chrono::seconds>(before_ + spent()).count());
    fmt::print("files       {0}/coverage.json, {0}/failing.jsonl\n", options_.folder.string());
    return failed_now_ > 0 ? 1 : 0;
  }

 private:
  static uint64_t seed_of(uint64_t task) { return task & ((uint64_t{1} << kBaseShift) - 1); }
  SteadyClock::duration spent() const { return SteadyClock::now() - start_; }

  /// The bases take turns. Of a base's next seeds the more worthwhile are drawn more often.
  uint64_t choose() {
    const uint64_t base = turn_++ % bases_.size();
    std::vector<double> sums;
    double sum = 0;
    for (uint64_t i = 0; i < kCandidates; ++i) {
      const ChaosScenario drawn = chaos_scenario(bases_[base], next_[base] + i);
      std::vector<std::string> kinds;
      for (const faults::FaultKind kind : drawn.kinds) {
        kinds.emplace_back(faults::info(kind).name);
      }
      sum += coverage_.worth(options_.bases[base], std::string(name_of(drawn.transport)), kinds);
      sums.push_back(sum);
    }
    faults::Draws draws(next_[base], kChoiceDraws);
    constexpr uint64_t kSteps = 1'000'000;
    const double at = sum * static_cast<double>(draws.below(kSteps)) / kSteps;
    const auto chosen = std::upper_bound(sums.begin(), sums.end() - 1, at) - sums.begin();
    const uint64_t seed = next_[base] + static_cast<uint64_t>(chosen);
    next_[base] += kCandidates;
    return base << kBaseShift | seed;
  }

  void take(const TaskPool::Answer& answer) {
    const size_t base = answer.task >> kBaseShift;
    const SeedResult result = result_of_answer(bases_[base], seed_of(answer.task), answer);
    coverage_.add(options_.bases[base], result);
    if (result.result != analysis::Result::kFail) return;
    ++failed_now_;
    ChaosReport report;
    report.base = options_.bases[base];
    report.world = "sim";
    progress_.clear();
    fmt::print("{}", chaos_line(report, result, stdout));
    std::fflush(stdout);
    if (failing_.size() >= kFailingMost) return;
    nlohmann::ordered_json line{{"command", command_of(report.base, result.seed)},
                                {"version", release_version()}};
    line.update(to_json(result));
    failing_.push_back(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }

  void show() {
    const double share = std::chrono::duration<double>(spent()) / options_.budget;
    progress_.show(
        std::min(1.0, share),
        fmt::format("{}, {} failed", counted_noun(coverage_.seeds(), "seed"), coverage_.failed()));
  }

  void save() {
    nlohmann::ordered_json next;
    for (size_t i = 0; i < bases_.size(); ++i) known_next_[options_.bases[i]] = next_[i];
    for (const auto& [base, seed] : known_next_) next[base] = seed;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(before_ + spent());
    const nlohmann::ordered_json state{{"campaign_by_time", kStateVersion},
                                       {"seconds", seconds.count()},
                                       {"next", next},
                                       {"coverage", coverage_.to_json()}};
    std::string lines;
    for (const std::string& line : failing_) lines += line + "\n";
    folder_.write_file("failing.jsonl", lines);
    folder_.write_file("coverage.json", state.dump(1) + "\n");
    saved_ = SteadyClock::now();
  }

  /// Reads what an earlier run of the command left.
  void go_on() {
    const std::filesystem::path file = options_.folder / "coverage.json";
    if (!std::filesystem::exists(file)) return;
    read_json_file(file, kStateMax, "chaos --budget",
                   [this](const nlohmann::json& state) { take_state(state); });
    read_failing();
  }

  void take_state(const nlohmann::json& state) {
    if (state.at("campaign_by_time") != kStateVersion) throw InputError("another version's");
    before_ = std::chrono::seconds(state.at("seconds").get<int64_t>());
    for (const auto& [base, seed] : state.at("next").items()) {
      known_next_[base] = seed.get<uint64_t>();
      if (known_next_[base] >> kBaseShift != 0) throw InputError("found a seed that is too large");
    }
    coverage_ = Coverage::from_json(state.at("coverage"));
    for (size_t i = 0; i < bases_.size(); ++i) {
      const auto found = known_next_.find(options_.bases[i]);
      if (found != known_next_.end()) next_[i] = found->second;
    }
  }

  void read_failing() {
    const std::filesystem::path file = options_.folder / "failing.jsonl";
    if (!std::filesystem::exists(file)) return;
    const std::string lines = netio::read_file(file, kStateMax);
    for (size_t begin = 0; begin < lines.size() && failing_.size() < kFailingMost;) {
      const size_t end = std::min(lines.find('\n', begin), lines.size());
      failing_.push_back(lines.substr(begin, end - begin));
      begin = end + 1;
    }
  }

  const BudgetOptions& options_;
  InterruptGuard& guard_;
  netio::OutputFolder folder_;
  std::vector<ChaosBase> bases_;
  std::vector<uint64_t> next_;  ///< by base: the first seed that was not looked at
  std::map<std::string, uint64_t> known_next_;
  Coverage coverage_;
  std::vector<std::string> failing_;
  uint64_t turn_ = 0, failed_now_ = 0;
  std::chrono::seconds before_{};
  SteadyClock::time_point start_ = SteadyClock::now(), saved_ = start_;
  Progress progress_{"chaos"};
};

}  // namespace

std::chrono::seconds parse_budget(const std::string& text) {
  constexpr int64_t kMost = 30 * 24 * 3'600;
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [unit, error] = std::from_chars(text.data(), end, number);
  const std::string_view rest(unit, static_cast<size_t>(end - unit));
  const int64_t factor = rest == "s" ? 1 : rest == "m" ? 60 : rest == "h" ? 3'600 : 0;
  if (error != std::errc{} || factor == 0 || number < 1 || number > kMost / factor) {
    throw InputError("--budget: found " + in_quotes(text) +
                     ": expected a time such as 90s, 30m or 8h, at most 720h");
  }
  return std::chrono::seconds(number * factor);
}

int budget_command(const BudgetOptions& options) {
  if (options.bases.empty() || options.bases.size() > kBasesMost) {
    throw InputError(
        fmt::format("chaos --budget: expected 1 to {} fabrics or scenarios, as in "
                    "octet,pair",
                    kBasesMost));
  }
  InterruptGuard guard;
  return BudgetRun(options, guard).run();
}

}  // namespace mrclab::lab
