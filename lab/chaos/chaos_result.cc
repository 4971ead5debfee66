#include "lab/chaos/chaos_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "fabric/base/sha256.h"
#include "fabric/text/json_text.h"
#include "fabric/text/schema_id.h"
#include "fabric/text/visible_text.h"
#include "fabric/text/yaml.h"
#include "lab/chaos/json_file.h"
#include "netio/system/file_descriptor.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {
namespace {

constexpr size_t kReportMax = size_t{4} << 30;

analysis::Result result_called(const std::string& word) {
  for (const auto result :
       {analysis::Result::kPass, analysis::Result::kFail, analysis::Result::kInconclusive}) {
    if (analysis::name_of(result) == word) return result;
  }
  throw InputError("found the result " + in_quotes(word) + ": expected pass, fail or inconclusive");
}

SeedResult seed_from_json(const nlohmann::json& in) {
  SeedResult result;
  in.at("seed").get_to(result.seed);
  result.result = result_called(in.at("result").get<std::string>());
  in.at("survivable").get_to(result.survivable);
  in.at("transport").get_to(result.transport);
  in.at("kinds").get_to(result.kinds);
  in.at("drawn").get_to(result.drawn);
  in.at("packets").get_to(result.packets);
  in.at("check").get_to(result.check);
  in.at("note").get_to(result.note);
  in.at("history_sha256").get_to(result.history_sha256);
  for (std::string* text :
       {&result.transport, &result.check, &result.note, &result.history_sha256}) {
    *text = visible(*text);
  }
  for (std::string& kind : result.kinds) kind = visible(kind);
  for (std::string& drawn : result.drawn) drawn = visible(drawn);
  return result;
}

uint64_t number(std::string_view text, uint64_t max, std::string_view what,
                std::string_view expected) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > max) {
    throw InputError(fmt::format("{}: found {}: expected {}", what, in_quotes(text), expected));
  }
  return value;
}

void keep_unique(std::vector<uint64_t>& seeds) {
  std::sort(seeds.begin(), seeds.end());
  seeds.erase(std::unique(seeds.begin(), seeds.end()), seeds.end());
}

}  // namespace

nlohmann::ordered_json to_json(const SeedResult& result) {
  return {{"seed", result.seed},
          {"result", analysis::name_of(result.result)},
          {"survivable", result.survivable},
          {"transport", result.transport},
          {"kinds", result.kinds},
          {"drawn", result.drawn},
          {"packets", result.packets},
          {"check", result.check},
          {"note", result.note},
          {"history_sha256", result.history_sha256}};
}

SeedResult seed_result_from_json(const std::string& text) {
  try {
    return seed_from_json(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    throw InputError("the result of a seed: " + json_problem(error) +
                     ": expected what mrclab writes");
  }
}

std::string sha256_hex(std::string_view text) {
  return hex_of(sha256_of({reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
}

std::string digest_of_results(const ChaosReport& report) {
  std::string text;
  for (const SeedResult& result : report.results) {
    text += fmt::format("{} {} {}\n", result.seed, analysis::name_of(result.result),
                        result.history_sha256);
  }
  return sha256_hex(text);
}

std::string to_json_text(const ChaosReport& report) {
  const nlohmann::ordered_json head{{"schema", schema_id("chaos")},
                                    {"chaos", report.base},
                                    {"base_sha256", report.base_sha256},
                                    {"world", report.world},
                                    {"version", report.version},
                                    {"seeds", report.seeds},
                                    {"shard", report.shard}};
  std::string text = head.dump();
  text.back() = ',';
  text += "\n\"results\": [\n";
  for (size_t i = 0; i < report.results.size(); ++i) {
    text +=
        to_json(report.results[i]).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
        (i + 1 < report.results.size() ? ",\n" : "\n");
  }
  return text + "]}\n";
}

ChaosReport read_chaos_report(const std::filesystem::path& file) {
  ChaosReport report;
  read_json_file(file, kReportMax, "chaos --json", [&](const nlohmann::json& json) {
    json.at("chaos").get_to(report.base);
    json.at("base_sha256").get_to(report.base_sha256);
    json.at("world").get_to(report.world);
    json.at("version").get_to(report.version);
    json.at("seeds").get_to(report.seeds);
    json.at("shard").get_to(report.shard);
    for (const auto& result : json.at("results")) report.results.push_back(seed_from_json(result));
    parse_seeds(report.seeds);
    parse_shard(report.shard);
    for (std::string* text : {&report.base, &report.base_sha256, &report.world, &report.version}) {
      *text = visible(*text);
    }
  });
  return report;
}

Shard parse_shard(const std::string& text) {
  constexpr std::string_view kExpected = "a shard such as 2/4, from 1/4 to 4/4";
  const size_t slash = std::min(text.find('/'), text.size());
  const std::string_view all(text);
  const auto index = number(all.substr(0, slash), kMaxSeeds, "--shard", kExpected);
  const auto count =
      number(all.substr(std::min(slash + 1, text.size())), kMaxSeeds, "--shard", kExpected);
  if (index < 1 || index > count) {
    throw InputError(fmt::format("--shard: found {}: expected {}", in_quotes(text), kExpected));
  }
  return {static_cast<uint32_t>(index), static_cast<uint32_t>(count)};
}

std::vector<uint64_t> seeds_of(const std::vector<uint64_t>& seeds, Shard shard) {
  std::vector<uint64_t> mine;
  for (size_t i = shard.index - 1; i < seeds.size(); i += shard.count) mine.push_back(seeds[i]);
  return mine;
}

MergedReport merge(const std::vector<ChaosReport>& reports) {
  MergedReport merged;
  if (reports.empty()) throw InputError("--merge: expected at least one file");
  merged.report = reports.front();
  merged.report.shard = "1/1";
  std::map<uint64_t, SeedResult> by_seed;
  for (const ChaosReport& report : reports) {
    const auto differs = [&](const char* what, const std::string& a, const std::string& b) {
      if (a == b) return;
      throw InputError(fmt::format("--merge: found reports of different jobs: {} {} and {}", what,
                                   in_quotes(a), in_quotes(b)));
    };
    differs("chaos on", reports.front().base, report.base);
    differs("seeds", reports.front().seeds, report.seeds);
    differs("worlds", reports.front().world, report.world);
    differs("versions", reports.front().version, report.version);
    differs("base_sha256", reports.front().base_sha256, report.base_sha256);
    for (const SeedResult& result : report.results) {
      const auto [place, fresh] = by_seed.emplace(result.seed, result);
      if (fresh) continue;
      (place->second == result ? merged.twice : merged.contradicting).push_back(result.seed);
    }
  }
  const std::vector<uint64_t> wanted = parse_seeds(merged.report.seeds);
  std::vector<uint64_t> have;
  merged.report.results.clear();
  for (auto& [seed, result] : by_seed) {
    have.push_back(seed);
    merged.report.results.push_back(std::move(result));
  }
  std::set_difference(wanted.begin(), wanted.end(), have.begin(), have.end(),
                      std::back_inserter(merged.missing));
  keep_unique(merged.twice);
  keep_unique(merged.contradicting);
  return merged;
}

}  // namespace mrclab::lab
