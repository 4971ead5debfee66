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

ExplainedSeed explained_from(const Json& in) {
  const auto time = [&](const char* key) { return FabricTime::from_ps(in.at(key).get<int64_t>()); };
  return {.seed = in.at("seed").get<uint64_t>(),
          .transport = in.at("transport").get<std::string>(),
          .steps = in.at("steps").get<size_t>(),
          .planned = in.at("planned").get<size_t>(),
          .without = time("without_ps"),
          .delay = time("delay_ps"),
          .by_losses = time("by_losses_ps"),
          .explained = time("explained_ps"),
          .missed = in.at("missed").get<std::vector<std::string>>()};
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

std::string seed_line(const ExplainedSeed& seed) {
  return fmt::format("seed {}, {}: {} of {} explained{}{}", seed.seed, seed.transport,
                     to_string(seed.explained_at_most()), to_string(seed.by_losses),
                     seed.missed.empty() ? "" : "; not blamed: ", fmt::join(seed.missed, "; "));
}

}  // namespace

std::string explained_text(const ExplainedShare& share) {
  FabricTime delay, by_losses, explained;
  size_t delayed = 0, short_of = 0, none = 0;
  std::string misses;
  for (const ExplainedSeed& seed : share.seeds) {
    short_of += seed.steps < seed.planned ? 1 : 0;
    none += seed.steps == 0 ? 1 : 0;
    delay += std::max(seed.delay, FabricTime::zero());
    if (!seed.is_delayed()) continue;
    ++delayed;
    by_losses += seed.by_losses;
    explained += seed.explained_at_most();
    if (static_cast<double>(seed.explained_at_most().ps()) <
        kExplainedMark * static_cast<double>(seed.by_losses.ps())) {
      misses += indented_lines(seed_line(seed));
    }
  }
  std::string text = fmt::format(
      "seeds       {}: lost packets delayed the job in {}; in {} it did not end, in {} no step of "
      "it\n",
      share.seeds.size(), delayed, short_of, none);
  text += fmt::format("delay       {} of all steps; losses cost {}\n", to_string(delay),
                      to_string(by_losses));
  if (!misses.empty()) text += "missed\n" + misses;
  text += fmt::format("explained   {} of it by what is blamed: {:.1f} %, must be {:.0f} %\n",
                      to_string(explained), 100 * share.of_all(), 100 * kExplainedMark);
  text += fmt::format("            {:.1f} % of a seed in the mean\n", 100 * share.of_mean());
  return text;
}

Json to_json(const ExplainedSeed& seed) {
  return {{"seed", seed.seed},
          {"transport", seed.transport},
          {"steps", seed.steps},
          {"planned", seed.planned},
          {"without_ps", seed.without.ps()},
          {"delay_ps", seed.delay.ps()},
          {"by_losses_ps", seed.by_losses.ps()},
          {"explained_ps", seed.explained.ps()},
          {"missed", seed.missed}};
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
  fmt::print(text, "mrclab: delay of steps that blame explains, chaos on {}, seeds {}\n", base.word,
             options.seeds);
  std::fflush(text);
  const ExplainedShare share{explain_seeds(base, seeds, jobs, guard)};
  fmt::print(text, "{}", explained_text(share));
  if (options.json) {
    Json list = Json::array();
    for (const ExplainedSeed& seed : share.seeds) list.push_back(to_json(seed));
    fmt::print("{}\n", printed(Json{{"chaos", base.word},
                                    {"seeds", options.seeds},
                                    {"explained", share.of_all()},
                                    {"explained_mean", share.of_mean()},
                                    {"results", std::move(list)}},
                               "explained-share"));
  }
  if (share.seeds.size() < seeds.size()) {
    std::fflush(text);
    fmt::print(stderr, "mrclab: interrupted; {} of {} done\n", share.seeds.size(),
               counted_noun(seeds.size(), "seed"));
    return 3;
  }
  return share.of_all() >= kExplainedMark ? 0 : 1;
}

}  // namespace mrclab::lab
