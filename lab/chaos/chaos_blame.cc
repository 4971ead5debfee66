#include "lab/chaos/chaos_blame.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <thread>

#include "console/interrupt.h"
#include "console/json_print.h"
#include "console/progress.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/yaml.h"
#include "lab/chaos/blame_score.h"
#include "lab/chaos/mapper_score.h"
#include "lab/chaos/task_pool.h"

namespace mrclab::lab {
namespace {

/// The score of each seed, or if the user interrupts, of those that are done by then. A seed whose
/// process ended is an error: chaos itself reports why.
std::map<uint64_t, BlameScore> score_seeds(std::optional<MapperWitness> mapper,
                                           const ChaosBase& base,
                                           const std::vector<uint64_t>& seeds, uint32_t jobs,
                                           const InterruptGuard& guard) {
  TaskPool pool(jobs, [&](uint64_t seed) {
    ChaosScenario drawn = chaos_scenario(base, seed);
    const std::string transport(name_of(drawn.transport));
    const std::string run = fmt::format("seed {}, {}", seed, transport);
    if (mapper) switch_mapper_on(drawn.scenario);
    BlameScore score =
        mapper ? score_mapper(run, drawn.scenario, *mapper) : score_scenario(run, drawn.scenario);
    score.count_for(transport);
    return to_json(score).dump();
  });
  std::map<uint64_t, BlameScore> scores;
  Progress progress(mapper ? "chaos --mapper" : "chaos --blame");
  size_t next = 0;
  while (next < seeds.size() || pool.busy() > 0) {
    if (guard.interrupted()) break;
    while (next < seeds.size() && pool.idle()) pool.start(seeds[next++]);
    const auto answer = pool.wait(std::chrono::milliseconds(100));
    if (!answer) continue;
    if (!answer->death.empty()) {
      throw std::runtime_error(fmt::format("seed {}: {}", answer->task, answer->death));
    }
    scores[answer->task] = blame_score_from_json(answer->text);
    progress.show(static_cast<double>(scores.size()) / static_cast<double>(seeds.size()),
                  fmt::format("{} of {}", scores.size(), counted_noun(seeds.size(), "seed")));
  }
  return scores;
}

}  // namespace

int chaos_blame_command(std::optional<MapperWitness> mapper, const ChaosOptions& options) {
  const std::string flag = mapper ? "--mapper" : "--blame";
  if (!options.merge.empty()) throw InputError(flag + ": expected no --merge beside it");
  if (options.world != World::kSim) throw InputError(flag + ": expected --world sim beside it");
  const InterruptGuard guard;
  const ChaosBase base = with_traffic(load_chaos_base(options.base));
  const auto seeds = seeds_of(parse_seeds(options.seeds), parse_shard(options.shard));
  const uint32_t jobs =
      options.jobs != 0 ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
  std::FILE* text = options.json ? stderr : stdout;
  fmt::print(text, "mrclab: {} over chaos on {}, seeds {}\n", flag.substr(2), base.word,
             options.seeds);
  std::fflush(text);
  BlameScore score;
  const std::map<uint64_t, BlameScore> scores = score_seeds(mapper, base, seeds, jobs, guard);
  for (const auto& [seed, of_seed] : scores) score.add_score(of_seed);
  const ScoreMarks& marks = mapper ? kMapperMarks : kBlameMarks;
  fmt::print(text, "{}", blame_table(score, marks));
  if (options.json) {
    nlohmann::ordered_json json{{"chaos", base.word}, {"seeds", options.seeds}};
    json.update(to_json(score));
    fmt::print("{}\n", printed(json, "blame-score"));
  }
  if (scores.size() == seeds.size()) return score.reaches_marks(marks) ? 0 : 1;
  std::fflush(text);
  fmt::print(stderr, "mrclab: interrupted; {} of {} done\n", scores.size(),
             counted_noun(seeds.size(), "seed"));
  return 3;
}

}  // namespace mrclab::lab
