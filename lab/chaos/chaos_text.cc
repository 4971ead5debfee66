#include "lab/chaos/chaos_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "console/shell_word.h"
#include "console/terminal.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/text_wrap.h"

namespace mrclab::lab {
namespace {

constexpr size_t kSeedsShown = 8;

size_t count(const ChaosReport& report, analysis::Result result) {
  return static_cast<size_t>(
      std::count_if(report.results.begin(), report.results.end(),
                    [&](const SeedResult& seed) { return seed.result == result; }));
}

/// "key         one, two, three", wrapped with the words below each other.
std::string listed(const std::string& key, const std::vector<std::string>& words) {
  constexpr size_t kIndent = 12;
  return wrapped_text(fmt::format("{:<{}}{}", key, kIndent, fmt::join(words, ", ")),
                      kTerminalColumns, kIndent);
}

std::string seeds_text(const char* what, const std::vector<uint64_t>& seeds) {
  if (seeds.empty()) return "";
  std::vector<std::string> words;
  for (size_t i = 0; i < seeds.size() && i < kSeedsShown; ++i) {
    words.push_back(std::to_string(seeds[i]));
  }
  if (seeds.size() > kSeedsShown) {
    words.push_back(fmt::format("and {} more", seeds.size() - kSeedsShown));
  }
  return listed(what, words);
}

}  // namespace

std::string chaos_title(const ChaosReport& report, size_t seeds, uint32_t jobs) {
  std::string text =
      fmt::format("mrclab: chaos on {}, seeds {}, {}", report.base, report.seeds, report.world);
  if (report.shard != "1/1")
    text += fmt::format(", shard {} ({})", report.shard, counted_noun(seeds, "seed"));
  if (jobs > 1) text += fmt::format(", {}", counted_noun(jobs, "process"));
  return text;
}

std::string chaos_line(const ChaosReport& report, const SeedResult& result, std::FILE* stream) {
  const bool failed = result.result == analysis::Result::kFail;
  const std::string word =
      paint(failed ? "FAIL" : "????", failed ? Colour::kRed : Colour::kYellow, stream);
  const std::string world = report.world == "sim" ? "" : " --world " + report.world;
  std::string text =
      fmt::format("{}  {:<6} {:<16} mrclab chaos {} --seeds {}{}\n", word, result.seed,
                  result.check, shell_word(report.base), result.seed, world);
  std::string note = result.note;
  if (result.transport != "mrc") note = result.transport + (note.empty() ? "" : ": ") + note;
  if (!note.empty()) {
    text += "      " + paint(note.substr(0, kTerminalColumns - 6), Colour::kDim, stream) + "\n";
  }
  return text;
}

std::string chaos_summary(const ChaosReport& report, std::optional<double> seconds) {
  const size_t failed = count(report, analysis::Result::kFail);
  const size_t unknown = count(report, analysis::Result::kInconclusive);
  std::map<std::string, size_t> drawn, transports;
  uint64_t packets = 0;
  size_t faults = 0, survivable = 0;
  for (const SeedResult& result : report.results) {
    packets += result.packets;
    survivable += result.survivable ? 1 : 0;
    ++transports[result.transport];
    faults += result.drawn.size();
    for (const std::string& kind : result.drawn) ++drawn[kind];
  }
  std::string text =
      fmt::format("seeds       {}: {} passed, {} failed, {} inconclusive{}\n",
                  report.results.size(), report.results.size() - failed - unknown, failed, unknown,
                  seconds ? fmt::format(" in {:.1f} s", *seconds) : "");
  text += fmt::format("survivable  {}; {} not, where only safety is asked for\n", survivable,
                      report.results.size() - survivable);
  const auto counted = [](const std::map<std::string, size_t>& of) {
    std::vector<std::string> words;
    for (const auto& [word, times] : of) words.push_back(fmt::format("{} {}", word, times));
    return words;
  };
  text += listed("transports", counted(transports));
  const std::vector<std::string> kinds = counted(drawn);
  text += listed("faults", {fmt::format("{} of {}", faults, counted_noun(drawn.size(), "kind"))});
  if (!kinds.empty()) text += listed("", kinds);
  text += fmt::format("packets     {} delivered\n", packets);
  text += fmt::format("digest      {} of all results\n", digest_of_results(report).substr(0, 16));
  return text;
}

std::string merge_text(const MergedReport& merged) {
  return seeds_text("missing", merged.missing) + seeds_text("twice", merged.twice) +
         seeds_text("differing", merged.contradicting);
}

int chaos_exit_code(const ChaosReport& report) {
  if (count(report, analysis::Result::kFail) > 0) return 1;
  return count(report, analysis::Result::kInconclusive) > 0 ? 3 : 0;
}

}  // namespace mrclab::lab
