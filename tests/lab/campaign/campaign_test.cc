// Campaigns of chaos: their folders, their words for shells, what they cover.

#include "lab/campaign/campaign.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "console/shell_word.h"
#include "fabric/text/yaml.h"
#include "lab/campaign/budget.h"
#include "lab/campaign/campaign_consent.h"
#include "lab/campaign/coverage.h"
#include "lab/campaign/engines.h"
#include "lab/chaos/chaos.h"
#include "lab/verbs/sweep/cli_campaign.h"
#include "netio/system/file_descriptor.h"
#include "tests/lab/support/temporary_runs.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

struct CampaignFolder {
  CampaignFolder() {
    campaign.folder = runs.path() / "night";
    campaign.program = "/opt/with blank/mrclab";
    campaign.base = "pair";
    campaign.seeds = "1-6";
    campaign.shards = 3;
    make_campaign(campaign);
  }
  /// Runs a shard as its engine would.
  void run_shard(uint32_t shard) const {
    ChaosOptions options;
    options.base = campaign.base;
    options.seeds = campaign.seeds;
    options.shard = std::to_string(shard) + "/3";
    options.save = shard_file(campaign, shard);
    options.jobs = 1;
    options.json = true;  // its text goes to stderr
    CHECK(chaos_command(options) == 0);
  }
  void write(const fs::path& file, const std::string& text) const { std::ofstream(file) << text; }

  test::TemporaryRuns runs;
  Campaign campaign;
};

TEST_CASE("a word of a shell is one word, whatever is in it") {
  CHECK(shell_word("1-9000") == "1-9000");
  CHECK(shell_word("") == "''");
  for (const std::string text :
       {"a b", "$(reboot)", "it's", "a;b", "`x`", "\"", "*", "~", "a\nb"}) {
    CAPTURE(text);
    const std::string command = "printf %s " + shell_word(text);
    FILE* pipe = ::popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string said;
    for (int c; (c = std::fgetc(pipe)) != EOF;) said += static_cast<char>(c);
    ::pclose(pipe);
    CHECK(said == text);
  }
}

TEST_CASE(
    "what is missing of a campaign is what no whole file has, and what is there is not run again") {
  const CampaignFolder night;
  CHECK(missing_shards(night.campaign) == std::vector<uint32_t>{1, 2, 3});
  night.run_shard(2);
  CHECK(missing_shards(night.campaign) == std::vector<uint32_t>{1, 3});
  const auto before = fs::last_write_time(shard_file(night.campaign, 2));
  night.run_shard(2);
  CHECK(fs::last_write_time(shard_file(night.campaign, 2)) == before);
  // A file that was cut is none; a report of other seeds is written anew.
  const std::string whole = netio::read_file(shard_file(night.campaign, 2), 1 << 20);
  night.write(shard_file(night.campaign, 2), whole.substr(0, whole.size() / 2));
  CHECK(missing_shards(night.campaign) == std::vector<uint32_t>{1, 2, 3});
  night.write(shard_file(night.campaign, 1), whole);
  night.run_shard(1);
  CHECK(netio::read_file(shard_file(night.campaign, 1), 1 << 20) != whole);
}

TEST_CASE("a campaign's summary is that of one process, and says what is missing") {
  const CampaignFolder night;
  CHECK_THROWS_AS(summarize(night.campaign), InputError);
  night.run_shard(1);
  night.run_shard(3);
  CHECK(summarize(night.campaign) == 3);
  std::string text = netio::read_file(night.campaign.folder / "summary.txt", 1 << 20);
  CHECK(text.find("missing     2, 5") != std::string::npos);
  night.run_shard(2);
  CHECK(summarize(night.campaign) == 0);
  text = netio::read_file(night.campaign.folder / "summary.txt", 1 << 20);
  CHECK(text.find("\nmissing ") == std::string::npos);
  const ChaosReport joined = read_chaos_report(night.campaign.folder / "summary.json");
  const ChaosBase base = load_chaos_base("pair");
  REQUIRE(joined.results.size() == 6);
  for (const SeedResult& result : joined.results)
    CHECK(result == run_chaos_seed(base, result.seed));
  CHECK(text.find(digest_of_results(joined).substr(0, 16)) != std::string::npos);
}

TEST_CASE("the digest of results changes with a seed, a result and a history") {
  ChaosReport report;
  report.results.resize(2);
  report.results[1].seed = 1;
  const std::string digest = digest_of_results(report);
  report.results[1].seed = 2;
  CHECK(digest_of_results(report) != digest);
  report.results[1].seed = 1;
  report.results[0].result = analysis::Result::kFail;
  CHECK(digest_of_results(report) != digest);
  report.results[0].result = analysis::Result::kInconclusive;
  CHECK(digest_of_results(report) == digest);
  report.results[0].history_sha256 = "00";
  CHECK(digest_of_results(report) != digest);
}

TEST_CASE("a campaign is read as it was written; hostile files are refused") {
  CampaignFolder night;
  const Campaign read = read_campaign(night.campaign.folder);
  CHECK(read.program == night.campaign.program);
  CHECK(read.seeds == "1-6");
  CHECK(read.shards == 3);
  CHECK(read.folder == night.campaign.folder);
  const fs::path file = night.campaign.folder / "campaign.json";
  const std::string good = netio::read_file(file, 1 << 20);
  for (const auto& change :
       std::vector<std::pair<std::string, std::string>>{{"\"campaign\": 1", "\"campaign\": 2"},
                                                        {"\"shards\": 3", "\"shards\": 0"},
                                                        {"\"shards\": 3", "\"shards\": 1000000"},
                                                        {"\"shards\": 3", "\"shards\": \"three\""},
                                                        {"1-6", "6-1"},
                                                        {"parallel", "cron"},
                                                        {good, "{"},
                                                        {good, "[]"},
                                                        {good, ""}}) {
    CAPTURE(change.second);
    std::string bad = good;
    bad.replace(bad.find(change.first), change.first.size(), change.second);
    night.write(file, bad);
    CHECK_THROWS_AS(read_campaign(night.campaign.folder), InputError);
  }
  night.campaign.seeds = "1-7";
  CHECK_THROWS_AS(make_campaign(night.campaign), InputError);  // another campaign's folder
}

TEST_CASE(
    "shards by default have at most 50 seeds, and there are no more than engines can number") {
  CHECK(default_shards("7") == 1);
  CHECK(default_shards("1-50") == 1);
  CHECK(default_shards("1-51") == 2);
  CHECK(default_shards("1-10000000") == kShardsMost);
}

TEST_CASE("a manifest for Kubernetes holds the file that it needs") {
  CampaignFolder night;
  night.campaign.engine = Engine::kKubernetes;
  const auto items_of = [](const std::string& manifest) {
    return nlohmann::json::parse(manifest.substr(manifest.find('\n'))).at("items");
  };
  const auto plain = items_of(kubernetes_manifest(night.campaign));
  REQUIRE(plain.size() == 2);
  CHECK(plain[0]["spec"]["completions"] == 3);
  CHECK(plain[0]["spec"]["completionMode"] == "Indexed");
  const std::string text = "name: mine\n";
  night.write(night.campaign.folder / "my fabric.yaml", text);  // a name that no key may have
  night.campaign.base = night.campaign.folder / "my fabric.yaml";
  const auto with_file = items_of(kubernetes_manifest(night.campaign));
  REQUIRE(with_file.size() == 3);
  CHECK(with_file[0]["data"]["base.yaml"] == text);
  const std::string command =
      with_file[1]["spec"]["template"]["spec"]["containers"][0]["command"][2];
  CHECK(command.find("/base/base.yaml") != std::string::npos);
}

TEST_CASE(
    "names that people choose stand in the script of a shard, not where engines rewrite words") {
  // GNU parallel would run the Perl in these, Slurm put numbers into them.
  const std::string perl = R"({= system("touch PWNED") =}{}{.}%j)";
  const test::TemporaryRuns runs;
  const fs::path bin = runs.path() / "bin";
  fs::create_directories(bin);
  Campaign campaign;
  campaign.folder = runs.path() / ("night " + perl);
  campaign.program = bin / ("mrclab" + perl);
  campaign.base = runs.path() / ("my $(touch PWNED) '" + perl + ".yaml");
  campaign.seeds = "1-6";
  campaign.shards = 3;
  for (const char* engine : {"parallel", "sbatch"}) {
    std::ofstream(bin / engine) << "#!/bin/sh\nprintf '%s\\n' \"$@\" >> " << (runs.path() / engine)
                                << "\necho 1\n";
    fs::permissions(bin / engine, fs::perms::owner_all);
  }
  std::ofstream(campaign.program) << "#!/bin/sh\nprintf '%s\\n' \"$@\" > said\n";
  fs::permissions(campaign.program, fs::perms::owner_all);
  make_campaign(campaign);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (bin.string() + ":" + path).c_str(), 1);
  CHECK_THROWS_AS(run_on_parallel(campaign), InputError);  // nothing ran, so there is no summary
  CHECK(run_on_slurm(campaign, false) == 0);
  campaign.machines = {"one", "two"};
  CHECK_THROWS_AS(run_on_parallel(campaign), InputError);
  ::setenv("PATH", path.c_str(), 1);
  const std::string parallel = netio::read_file(runs.path() / "parallel", 1 << 20);
  CHECK(parallel.find("sh shard.sh {}") != std::string::npos);
  CHECK(parallel.find("{=") == std::string::npos);
  CHECK(parallel.find("{.}") == std::string::npos);
  const std::string slurm = netio::read_file(runs.path() / "sbatch", 1 << 20);
  CHECK(slurm.find("{.}%%j/logs/%a.log\n") != std::string::npos);
  CHECK(slurm.find("{.}%%j/logs/join.log\n") != std::string::npos);
  // The script does what was meant, and nothing else runs.
  const fs::path shards = campaign.folder / "shards";
  const std::string there = shell_word(shards.string());
  REQUIRE(std::system(("cd " + there + " && sh shard.sh 2").c_str()) == 0);
  CHECK(netio::read_file(shards / "said", 1 << 20) ==
        "chaos\n" + campaign.base +
            "\n--seeds\n1-6\n--shard\n2/3\n--save\n2.json\n--keep\n0\n--jobs\n1\n");
  for (const auto& entry : fs::recursive_directory_iterator(runs.path())) {
    CHECK(entry.path().filename() != "PWNED");
  }
}

TEST_CASE("Kubernetes is given no name that it would rewrite, and none that breaks the file") {
  const test::TemporaryRuns runs;
  Campaign campaign;
  campaign.engine = Engine::kKubernetes;
  campaign.folder = runs.path() / "night $(HOSTNAME) $$";
  campaign.base = runs.path() / "my {}: $(HOSTNAME).yaml";
  campaign.seeds = "1-6";
  campaign.shards = 3;
  make_campaign(campaign);
  std::ofstream(campaign.base) << "name: mine\n";
  const std::string manifest = kubernetes_manifest(campaign);
  // One line of comment, then JSON alone.
  const auto items = nlohmann::json::parse(manifest.substr(manifest.find('\n'))).at("items");
  REQUIRE(items.size() == 3);
  CHECK(items[0]["data"].contains("base.yaml"));
  for (size_t item = 1; item < items.size(); ++item) {
    std::string command = items[item]["spec"]["template"]["spec"]["containers"][0]["command"][2];
    // As the kubelet does: $$ is $, and $(NAME) with a variable of that name would be its value.
    for (size_t at = 0; (at = command.find('$', at)) != std::string::npos; ++at) {
      REQUIRE(command.substr(at, 2) == "$$");
      command.erase(at, 1);
    }
    CHECK(command.find("'/campaigns/night $(HOSTNAME) $$'") != std::string::npos);
  }
}

TEST_CASE(
    "what a campaign's file alone would run needs a yes, and the command line may say it instead") {
  CampaignFolder night;
  Campaign plain = night.campaign;
  plain.program = usual_program(plain);
  CHECK(consented(plain, {}).program == plain.program);  // nothing that is not run anyway
  Campaign foreign = plain;
  SUBCASE("a program") { foreign.program = "/tmp/not-mrclab"; }
  SUBCASE("words for the engine") { foreign.engine_options = {"--tmpdir", "/etc"}; }
  SUBCASE("machines") { foreign.machines = {"ssh -oProxyCommand=reboot host"}; }
  CHECK_THROWS_AS(consented(foreign, {}), InputError);  // here is no terminal
  foreign.engine = Engine::kSlurm;
  CHECK_THROWS_AS(consented(foreign, {}), InputError);
  CampaignChoice yes;
  yes.allowed = true;
  CHECK(consented(foreign, yes).program == foreign.program);
  const CampaignChoice instead{"/opt/mrclab", {"one"}, {"--halt", "never"}, false};
  const Campaign chosen = consented(foreign, instead);
  CHECK(chosen.program == "/opt/mrclab");
  CHECK(chosen.machines == std::vector<std::string>{"one"});
  CHECK(chosen.engine_options == std::vector<std::string>{"--halt", "never"});
  foreign.engine = Engine::kKubernetes;
  CHECK_NOTHROW(consented(foreign, {}));  // a manifest runs nothing here
}

TEST_CASE("--resume runs no program of a folder or of its base without a yes") {
  CampaignFolder night;
  const fs::path evil = night.runs.path() / "evil", mark = night.runs.path() / "PWNED";
  night.write(evil, "#!/bin/sh\ntouch " + mark.string() + "\n");
  fs::permissions(evil, fs::perms::owner_all);
  const fs::path file = night.campaign.folder / "campaign.json";
  nlohmann::json json = nlohmann::json::parse(netio::read_file(file, 1 << 20));
  CampaignWords words;
  words.resume = night.campaign.folder;
  const auto refused = [&](const nlohmann::json& changed) {
    night.write(file, changed.dump());
    std::string said;
    try {
      campaign_command(words, {});
    } catch (const InputError& error) {
      said = error.what();
    }
    CHECK_FALSE(fs::exists(mark));
    return said;
  };
  nlohmann::json changed = json;
  changed["program"] = evil;
  CHECK(refused(changed).find("expected --programs") != std::string::npos);
  // The base is the folder's choice as well; that it is a file of ours is no consent to run its programs.
  const fs::path base = night.runs.path() / "base.yaml";
  night.write(base,
              "name: mine\nfabric: pair\nworkload:\n  - write: {from: h0, to: h1, size: "
              "64KiB}\nend: 100us\n"
              "expect:\n  - program: {command: 'touch " +
                  mark.string() + "'}\n");
  changed = json;
  changed["program"] = usual_program(night.campaign);
  changed["base"] = base;
  changed["programs"] = true;
  CHECK(refused(changed).find("expected --programs") != std::string::npos);
  changed["base"] = "--out=/etc";
  CHECK(refused(changed).find("expected a fabric or a scenario") != std::string::npos);
}

TEST_CASE("a claim that is no name of Kubernetes is refused, and ends no comment of the manifest") {
  CampaignFolder night;
  night.campaign.engine = Engine::kKubernetes;
  for (const char* claim : {"", "x\nkind: Pod", "Big", "a b", "-a", "a.", "x#y"}) {
    night.campaign.claim = claim;
    CHECK_THROWS_AS(kubernetes_manifest(night.campaign), InputError);
  }
  night.campaign.claim = "mrclab-campaigns.night";
  CHECK_NOTHROW(kubernetes_manifest(night.campaign));
}

TEST_CASE("a budget is a time") {
  CHECK(parse_budget("90s").count() == 90);
  CHECK(parse_budget("30m").count() == 1'800);
  CHECK(parse_budget("8h").count() == 28'800);
  for (const char* text :
       {"", "8", "h", "0s", "-1s", "8d", "1.5h", "999999999999999999h", "721h"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_budget(text), InputError);
  }
}

TEST_CASE("what found something, and what was seldom run, is worth more") {
  Coverage coverage;
  SeedResult result;
  result.kinds = {"link_down"};
  result.result = analysis::Result::kPass;
  const double before = coverage.worth("pair", "mrc", {"link_down"});
  for (int i = 0; i < 24; ++i) coverage.add("pair", result);
  const double often = coverage.worth("pair", "mrc", {"link_down"});
  CHECK(often < before);
  CHECK(coverage.worth("pair", "mrc", {"buffer"}) == before);
  CHECK(coverage.worth("octet", "mrc", {"link_down"}) == before);
  CHECK(coverage.worth("pair", "roce", {"link_down"}) == before);
  result.result = analysis::Result::kFail;
  result.check = "healed";
  coverage.add("pair", result);
  const double found = coverage.worth("pair", "mrc", {"link_down"});
  CHECK(found > often);
  coverage.add("pair", result);  // the same again is nothing new
  CHECK(coverage.worth("pair", "mrc", {"link_down"}) < found);
  CHECK(coverage.seeds() == 26);
  CHECK(coverage.failed() == 2);
  CHECK(coverage.table().find("26 (2)") != std::string::npos);
}

TEST_CASE("coverage is read as it was written; hostile files are refused") {
  Coverage coverage;
  SeedResult result;
  result.kinds = {"link_down", "buffer"};
  result.result = analysis::Result::kFail;
  result.check = "healed";
  coverage.add("pair", result);
  const nlohmann::json json = coverage.to_json();
  CHECK(Coverage::from_json(json).to_json() == coverage.to_json());
  for (const char* key : {"seeds", "failed", "rows"}) {
    nlohmann::json less = json;
    less.erase(key);
    CHECK_THROWS_AS(Coverage::from_json(less), nlohmann::json::exception);
  }
}

TEST_CASE("a campaign by time goes on where it was stopped, with new seeds") {
  const test::TemporaryRuns runs;
  const fs::path folder = runs.path() / "night";
  const BudgetOptions options{{"single"}, std::chrono::seconds(1), folder, 1};
  CHECK(budget_command(options) == 0);
  const auto state = [&] {
    return nlohmann::json::parse(netio::read_file(folder / "coverage.json", 1 << 20));
  };
  const auto first = state();
  REQUIRE(first["coverage"]["seeds"] > 0);
  CHECK(budget_command(options) == 0);
  const auto second = state();
  CHECK(second["coverage"]["seeds"] > first["coverage"]["seeds"]);
  CHECK(second["next"]["single"] > first["next"]["single"]);
  std::ofstream(folder / "coverage.json") << "{}";
  CHECK_THROWS_AS(budget_command(options), InputError);
}

}  // namespace
}  // namespace mrclab::lab
