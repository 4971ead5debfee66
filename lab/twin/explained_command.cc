#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "console/indented_lines.h"
#include "console/interrupt.h"
#include "console/json_print.h"
#include "console/progress.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/json_text.h"
#include "fabric/text/yaml.h"
#include "lab/twin/explained_share.h"

namespace mrclab::lab {
namespace {

using Json = nlohmann::ordered_json;

ExplainedDelay delay_from(const Json& in) {
  return {FabricTime::from_ps(in.at("ps").get<int64_t>()),
          in.at("missed").get<std::vector<std::string>>()};
}

ExplainedSeed explained_from(const Json& in) {
  const auto time = [&](const char* key) { return FabricTime::from_ps(in.at(key).get<int64_t>()); };
  return {.seed = in.at("seed").get<uint64_t>(),
          .transport = in.at("transport").get<std::string>(),
          .steps = in.at("steps").get<size_t>(),
          .planned = in.at("planned").get<size_t>(),
          .without = time("without_ps"),
          .delay = time("delay_ps"),
          .due = time("due_ps"),
          .gone = time("gone_ps"),
          .faults_due = in.at("faults_due").get<size_t>(),
          .faults_shown = in.at("faults_shown").get<size_t>(),
          .by_signs = delay_from(in.at("by_signs")),
          .by_losses = delay_from(in.at("by_losses")),
          .by_data = delay_from(in.at("by_data")),
          .by_blame = delay_from(in.at("by_blame"))};
}

/// All seeds, or if the user interrupts, those that are done by then.
std::vector<ExplainedSeed> explain_seeds(const ChaosBase& base, const std::vector<uint64_t>& seeds,
                                         uint32_t jobs, const InterruptGuard& guard) {
  TaskPool pool(jobs, [&](uint64_t seed) { return to_json(explain_seed(base, seed)).dump(); });
  std::vector<ExplainedSeed> done;
  Progress progress("chaos --explained");
  size_t next = 0;
  while ((next < seeds.size() || pool.busy() > 0) && !guard.interrupted()) {
    while (next < seeds.size() && pool.idle()) pool.start(seeds[next++]);
    const auto answer = pool.wait(std::chrono::milliseconds(100));
    if (!answer) continue;
    if (!answer->death.empty()) {
      throw std::runtime_error(fmt::format("seed {}: {}", answer->task, answer->death));
    }
    done.push_back(explained_seed_from_json(answer->text));
    progress.show(static_cast<double>(done.size()) / static_cast<double>(seeds.size()),
                  fmt::format("{} of {}", done.size(), counted_noun(seeds.size(), "seed")));
  }
  std::sort(done.begin(), done.end(),
            [](const ExplainedSeed& a, const ExplainedSeed& b) { return a.seed < b.seed; });
  return done;
}

std::string seed_line(const ExplainedSeed& seed, const ExplainedDelay& explained) {
  return fmt::format("seed {}, {}: {} of {} explained{}{}", seed.seed, seed.transport,
                     to_string(explained.time), to_string(seed.due),
                     explained.missed.empty() ? "" : "; not by ",
                     fmt::join(explained.missed, "; "));
}

bool is_short(const ExplainedSeed& seed, const ExplainedDelay& explained) {
  const auto part = static_cast<double>(explained.time.ps());
  return seed.is_delayed() && part < kExplainedMark * static_cast<double>(seed.due.ps());
}

std::string share_line(const std::vector<ExplainedSeed>& seeds, const char* what,
                       ExplainedDelay ExplainedSeed::*explained, const std::string& mark) {
  FabricTime sum;
  size_t missed = 0;
  for (const ExplainedSeed& seed : seeds) {
    if (seed.is_delayed()) sum += (seed.*explained).time;
    missed += is_short(seed, seed.*explained) ? 1 : 0;
  }
  const ExplainedShare share = share_of(seeds, explained);
  return fmt::format(
      "{:<11} {} of it, {:.1f} %{}\n            {:.1f} % of a seed in the mean, {} below {:.0f} %\n",
      what, to_string(sum), 100 * share.of_all, mark, 100 * share.of_mean, missed,
      100 * kExplainedMark);
}

}  // namespace

std::string explained_text(const std::vector<ExplainedSeed>& seeds) {
  FabricTime delay, due, gone;
  size_t delayed = 0, short_of = 0, none = 0, faults_due = 0, faults_shown = 0;
  std::string misses;
  for (const ExplainedSeed& seed : seeds) {
    short_of += seed.steps < seed.planned ? 1 : 0;
    none += seed.steps == 0 ? 1 : 0;
    delay += std::max(seed.delay, FabricTime::zero());
    if (!seed.is_delayed()) continue;
    ++delayed;
    due += seed.due;
    gone += std::clamp(seed.gone, FabricTime::zero(), seed.due);
    faults_due += seed.faults_due;
    faults_shown += seed.faults_shown;
    if (is_short(seed, seed.by_signs)) misses += indented_lines(seed_line(seed, seed.by_signs));
  }
  std::string text = fmt::format("seeds       {}: the job was late in {}\n", seeds.size(), delayed);
  if (short_of > 0) {
    text +=
        fmt::format("            of {} the steps that ended in all runs count; of {} none did\n",
                    short_of - none, none);
  }
  text += fmt::format("delay       {}\n", to_string(delay));
  text +=
      fmt::format("due         {} by faults of which frames can show something\n", to_string(due));
  text += fmt::format("faults      {} such where the job was late; signs of {}\n", faults_due,
                      faults_shown);
  text += fmt::format("            without these it would be {} earlier\n", to_string(gone));
  if (!misses.empty()) text += "missed\n" + misses;
  const std::string mark = fmt::format(", must be {:.0f} %", 100 * kExplainedMark);
  text += share_line(seeds, "by signs", &ExplainedSeed::by_signs, mark);
  text += share_line(seeds, "by losses", &ExplainedSeed::by_losses, "");
  text += share_line(seeds, "by data", &ExplainedSeed::by_data, "");
  return text + share_line(seeds, "by blame", &ExplainedSeed::by_blame, "");
}

Json to_json(const ExplainedSeed& seed) {
  const auto json_of = [](const ExplainedDelay& explained) {
    return Json{{"ps", explained.time.ps()}, {"missed", explained.missed}};
  };
  return {{"seed", seed.seed},
          {"transport", seed.transport},
          {"steps", seed.steps},
          {"planned", seed.planned},
          {"without_ps", seed.without.ps()},
          {"delay_ps", seed.delay.ps()},
          {"due_ps", seed.due.ps()},
          {"gone_ps", seed.gone.ps()},
          {"faults_due", seed.faults_due},
          {"faults_shown", seed.faults_shown},
          {"by_signs", json_of(seed.by_signs)},
          {"by_losses", json_of(seed.by_losses)},
          {"by_data", json_of(seed.by_data)},
          {"by_blame", json_of(seed.by_blame)}};
}

ExplainedSeed explained_seed_from_json(const std::string& text) {
  try {
    return explained_from(Json::parse(text));
  } catch (const Json::exception& error) {
    throw InputError("the answer of a seed's process: " + json_problem(error) +
                     ": expected what mrclab writes");
  }
}

int explained_command(const ChaosOptions& options) {
  if (!options.merge.empty()) throw InputError("--explained: expected no --merge beside it");
  if (options.world != World::kSim) throw InputError("--explained: expected --world sim beside it");
  const InterruptGuard guard;
  const ChaosBase base = load_chaos_base(options.base);
  if (!base.jobs) {
    throw InputError("--explained: found " + in_quotes(options.base) +
                     ": expected a fabric with \"+job\" behind it, as steps are measured");
  }
  const auto seeds = seeds_of(parse_seeds(options.seeds), parse_shard(options.shard));
  const uint32_t jobs =
      options.jobs != 0 ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
  std::FILE* text = options.json ? stderr : stdout;
  fmt::print(text, "mrclab: what explains the delay of steps, chaos on {}, seeds {}\n", base.word,
             options.seeds);
  std::fflush(text);
  const std::vector<ExplainedSeed> explained = explain_seeds(base, seeds, jobs, guard);
  fmt::print(text, "{}", explained_text(explained));
  const double by_signs = share_of(explained, &ExplainedSeed::by_signs).of_all;
  if (options.json) {
    Json list = Json::array();
    for (const ExplainedSeed& seed : explained) list.push_back(to_json(seed));
    fmt::print("{}\n",
               printed(Json{{"chaos", base.word},
                            {"seeds", options.seeds},
                            {"by_signs", by_signs},
                            {"by_losses", share_of(explained, &ExplainedSeed::by_losses).of_all},
                            {"by_data", share_of(explained, &ExplainedSeed::by_data).of_all},
                            {"by_blame", share_of(explained, &ExplainedSeed::by_blame).of_all},
                            {"results", std::move(list)}},
                       "explained-share"));
  }
  if (explained.size() < seeds.size()) {
    std::fflush(text);
    fmt::print(stderr, "mrclab: interrupted; {} of {} done\n", explained.size(),
               counted_noun(seeds.size(), "seed"));
    return 3;
  }
  return by_signs >= kExplainedMark ? 0 : 1;
}

}  // namespace mrclab::lab
