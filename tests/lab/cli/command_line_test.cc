// The words of the command: what is refused, with what hint, and that no number makes it hang.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "lab/cli/help_text.h"
#include "scenario/spec/queue_pairs.h"
#include "scenario/spec/scenario.h"
#include "tests/lab/support/sandbox.h"

namespace mrclab::lab {
namespace {

using Words = std::vector<std::string>;

/// A verb with what it needs beside an option, its numeric options, and those of them for which 0
/// means something.
struct NumericOptions {
  Words verb;
  Words needed;
  std::set<std::string> options;
  std::set<std::string> zero = {};
};

const std::vector<NumericOptions> kNumericOptions{
    {{"run"}, {"pair-write"}, {"--seed", "--dilation", "--threads"}, {"--seed"}},
    {{"chaos"}, {"pair"}, {"--jobs", "--keep", "--shards"}, {"--keep"}},
    {{"runs"}, {"no-such-folder"}, {"--keep", "--older"}, {"--keep", "--older"}},
    {{"compare"}, {"no-such-scenario"}, {"--seed"}, {"--seed"}},
    {{"serve"},
     {"no-such-scenario"},
     {"--class", "--port", "--seed"},
     {"--class", "--port", "--seed"}},
    {{"drill"}, {"no-such-rules.yml", "pair"}, {"--seed", "--stretch"}, {"--seed"}},
    {{"job"}, {"no-such-job"}, {"--ranks", "--steps"}},
    {{"twin"},
     {"no-such-scenario"},
     {"--seed", "--jobs", "--factors", "--gpus", "--price"},
     {"--seed"}},
    {{"export", "syslog"}, {"no-such-run"}, {"--stretch"}},
    {{"lesson"}, {"no-such-lesson"}, {"--task"}},
    {{"exec"}, {}, {"--jobs"}},
    {{"capture"}, {"h0:p0"}, {"--for", "-c"}},
    {{"import", "containerlab"}, {"no-such-file"}, {"--hosts-per-leaf"}},
    {{"export", "page"}, {"no-such-scenario"}, {"--seed"}, {"--seed"}},
    {{"export", "containerlab"}, {"pair"}, {"--dilation", "--link-mtu"}},
    {{"export", "netlab"}, {"pair"}, {"--dilation", "--link-mtu"}},
    {{"export", "kathara"}, {"pair"}, {"--dilation", "--link-mtu"}},
    {{"shrink"}, {"no-such-scenario"}, {"--seed", "--budget"}, {"--seed"}},
    {{"diff"}, {"a", "b"}, {"--context"}, {"--context"}},
    {{"analyze"}, {"no-such-capture"}, {"--rows"}, {"--rows"}},
    {{"metrics"}, {}, {"--port"}},
    {{"top"}, {}, {"--count", "--every", "--rows"}},
    {{"trace"}, {}, {"--attempt", "--evs", "--seed"}, {"--seed"}},
    {{"clock", "step"}, {}, {"N"}},
    {{"plan"},
     {},
     {"--hosts", "--planes", "--hosts-per-t0", "--t1", "--radix", "--host", "--to", "--job"},
     {"--host", "--to"}},
    {{"perf", "write_bw"}, {"pair"}, {"--seed", "-m", "-n", "-q", "-t"}, {"--seed"}},
    {{"perf", "write_lat"}, {"pair"}, {"--seed", "-m", "-n"}, {"--seed"}},
    {{"perf", "all_reduce"},
     {"pair"},
     {"--seed", "-a", "-f", "-g", "-m", "-t", "-n", "-w", "-c", "-q"},
     {"--seed", "-a", "-w", "-c"}},
    {{"perf", "permutation"}, {"pair"}, {"--seed", "-q", "--shift"}, {"--seed"}},
    {{"perf", "incast"}, {"pair"}, {"--seed", "-q"}, {"--seed"}},
};

Words joined(const Words& a, const Words& b, const Words& c = {}) {
  Words all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

/// What --help calls INT, UINT or FLOAT: the first name of each.
std::set<std::string> numeric_options_in(const std::string& help) {
  static const std::regex kOption(R"(^\s+(-{0,2}[\w-]+)(?:,[\w,-]+)? (?:U?INT|FLOAT)\b)");
  std::set<std::string> names;
  std::istringstream in(help);
  for (std::string line; std::getline(in, line);) {
    std::smatch found;
    if (std::regex_search(line, found, kOption)) names.insert(found[1]);
  }
  return names;
}

/// All verbs, those below others as well: {"clock", "step"}.
void add_verbs(const Words& above, std::vector<Words>& all) {
  std::istringstream in(mrclab(joined(above, {"--help"})).output);
  bool listed = false;
  for (std::string line; std::getline(in, line);) {
    if (line.find("ubcommands:") != std::string::npos) {
      listed = true;
      continue;
    }
    if (!listed || line.size() < 3 || line[2] == ' ') continue;
    if (!line.starts_with("  ")) break;
    const Words verb = joined(above, {line.substr(2, line.find_first_of(" ,", 2) - 2)});
    all.push_back(verb);
    add_verbs(verb, all);
  }
}

/// Refused in one line that does not come from deep inside.
void check_refused(const Words& words) {
  const CommandResult result = mrclab(words);
  CAPTURE(words);
  CAPTURE(result.output);
  CHECK(result.code == 2);
  CHECK(std::count(result.output.begin(), result.output.end(), '\n') == 1);
}

}  // namespace

TEST_CASE("every numeric option is in the table above") {
  std::vector<Words> verbs;
  add_verbs({}, verbs);
  REQUIRE(verbs.size() > 35);
  const std::set<std::string> collectives{"all_gather", "reduce_scatter", "all_to_all", "sendrecv"};
  for (Words& verb : verbs) {
    CAPTURE(verb);
    const std::set<std::string> found = numeric_options_in(mrclab(joined(verb, {"--help"})).output);
    if (collectives.contains(verb.back())) verb.back() = "all_reduce";
    const auto row = std::find_if(kNumericOptions.begin(), kNumericOptions.end(),
                                  [&](const NumericOptions& r) { return r.verb == verb; });
    CHECK(found == (row == kNumericOptions.end() ? std::set<std::string>{} : row->options));
  }
}

TEST_CASE("no number of any option makes a verb hang or crash: it is refused with code 2") {
  for (const NumericOptions& row : kNumericOptions) {
    CAPTURE(row.verb);
    for (const std::string& option : row.options) {
      const bool positional = !option.starts_with("-");
      for (const char* value : {"-1", "99999999999999999999", "1e400", "x", "0"}) {
        if (value == std::string("0") && row.zero.contains(option)) continue;
        const Words given = positional ? Words{"--", value} : Words{option, value};
        check_refused(joined(row.verb, row.needed, given));
      }
    }
  }
}

TEST_CASE("so it is with times, sizes, shares and ranges") {
  const std::vector<std::pair<Words, Words>> rows{
      {{"run", "link-flap", "--world", "sim", "--until"},
       {"0us", "-5us", "3600s", "99999999999999s", "x"}},
      {{"run", "link-flap", "--world", "sim", "--history"}, {"-1", "x", "99999999999999GiB"}},
      {{"up", "pair", "--dilation"}, {"0", "-1", "1000001", "x"}},
      {{"chaos", "pair", "--seeds"}, {"-1", "5-1", "0-99999999999", "x", ""}},
      {{"chaos", "pair", "--budget"}, {"0s", "-1s", "8", "721h", "x"}},
      {{"chaos", "pair", "--shard"}, {"0/0", "0/2", "3/2", "-1/2", "x"}},
      {{"perf", "write_bw", "pair", "-s"}, {"0", "-1", "99999999G", "x"}},
      {{"perf", "write_bw", "pair", "-D"}, {"0us", "-5us", "3600s", "x"}},
      {{"perf", "all_reduce", "pair", "-b"}, {"0", "-1", "99999999G", "x"}},
      {{"perf", "permutation", "pair", "--load"}, {"0%", "-1%", "200%", "x"}},
      {{"perf", "permutation", "pair", "--message"}, {"0", "-1", "99999999G", "x"}},
      {{"perf", "permutation", "pair", "--duration"}, {"0us", "-5us", "3600s", "x"}},
      {{"perf", "permutation", "pair", "--warmup"}, {"-5us", "3600s", "x"}},
      {{"plan", "--port-rate"}, {"0Gb/s", "-1Gb/s", "x"}},
      {{"export", "qlog", "no-such-run", "--limit"}, {"0", "-1", "x"}},
      {{"trace", "no-such-run", "--psn", "1", "--qp"}, {"-1", "0x1000000", "x"}},
      {{"trace", "no-such-run", "--qp", "0x12", "--psn"}, {"-1", "16777216", "x"}},
  };
  for (const auto& [words, values] : rows) {
    for (const std::string& value : values) check_refused(joined(words, {value}));
  }
}

TEST_CASE("a verb or an option that is nearly right gets a hint, another one a sentence") {
  const std::vector<std::pair<Words, std::string>> rows{
      {{"chaos", "pair", "--keep", "--out", "x"},
       "mrclab: --keep: found \"--out\", expected a number. See --help."},
      {{"rnu", "optic-glitch"}, "mrclab: found \"rnu\": did you mean \"run\"?"},
      {{"analyse", "latest"}, "mrclab: found \"analyse\": did you mean \"analyze\"?"},
      {{"clock", "stpe"}, "mrclab clock: found \"stpe\": did you mean \"step\"?"},
      {{"run", "link-flap", "--sead", "3"},
       "mrclab run: found \"--sead\": did you mean \"--seed\"?"},
      {{"run", "link-flap", "--wrld=sim"},
       "mrclab run: found \"--wrld\": did you mean \"--world\"?"},
      {{"xyzzy"}, "mrclab: found \"xyzzy\", which is no verb"},
      {{"run", "link-flpa", "--world", "sim"}, "\"link-flap\""},
      {{"up", "octte"}, "\"octet\""}};
  for (const auto& [words, hint] : rows) {
    const CommandResult result = mrclab(words);
    CAPTURE(words);
    CAPTURE(result.output);
    CHECK(result.code == 2);
    CHECK(result.output.find(hint) != std::string::npos);
  }
}

TEST_CASE("the queue pairs in examples are there") {
  const auto named_in = [](const Words& verb, const std::string& scenario) {
    const std::string help = mrclab(joined(verb, {"--help"})).output;
    static const std::regex kNumber(R"(--qp (?:h\d+:)?0x([0-9a-f]{6}))");
    std::smatch found;
    REQUIRE(std::regex_search(help, found, kNumber));
    const auto ends = queue_pairs(load_scenario(scenario));
    const uint32_t number = static_cast<uint32_t>(std::stoul(found[1], nullptr, 16));
    return std::any_of(ends.begin(), ends.end(),
                       [&](const QueuePairEnd& end) { return end.qpn.value == number; });
  };
  CHECK(named_in({"clock", "step"}, "optic-glitch"));
  CHECK(named_in({"trace"}, "link-flap"));
}

TEST_CASE("help fits its width, goes on below its descriptions, and leaves examples whole") {
  const std::string text =
      "Usage: mrclab x [OPTIONS]\n"
      "  --name TEXT                 one two three four five six\n"
      "                              seven eight nine ten eleven\n"
      "  --a-name-that-is-long TEXT the description of it all\n"
      "Footers are text that is broken, where it is too long.\n"
      "Example: mrclab x is there to be copied, however long it is\n";
  CHECK(fit_help(text, 80) == text);
  CHECK(fit_help(text, 50) ==
        "Usage: mrclab x [OPTIONS]\n"
        "  --name TEXT                 one two three four\n"
        "                              five six\n"
        "                              seven eight nine ten\n"
        "                              eleven\n"
        "  --a-name-that-is-long TEXT the description of it\n"
        "  all\n"
        "Footers are text that is broken, where it is too\n"
        "long.\n"
        "Example: mrclab x is there to be copied, however long it is\n");
  std::vector<Words> verbs{{}};
  add_verbs({}, verbs);
  for (const Words& verb : verbs) {
    CAPTURE(verb);
    std::istringstream help(mrclab(joined(verb, {"--help"})).output);
    for (std::string line; std::getline(help, line);) {
      CAPTURE(line);
      CHECK((line.size() <= 80 || line.find("mrclab ") != std::string::npos));
    }
  }
}

TEST_CASE("help and version answer to the usual names") {
  CHECK(mrclab({"help"}).output == mrclab({"--help"}).output);
  CHECK(mrclab({"help", "run"}).output == mrclab({"run", "--help"}).output);
  CHECK(mrclab({"help", "clock", "step"}).output == mrclab({"clock", "step", "--help"}).output);
  CHECK(mrclab({"help", "run"}).code == 0);
  for (const char* word : {"-V", "--version", "version"}) {
    const CommandResult version = mrclab({word});
    CHECK(version.code == 0);
    CHECK(version.output == mrclab({"--version"}).output);
  }
}

TEST_CASE("chaos says what became of --json with the name of a file") {
  for (const Words& words :
       {Words{"chaos", "pair", "--json", "2.json"}, Words{"chaos", "--json", "2.json", "pair"},
        Words{"chaos", "pair", "--json", "-"}}) {
    const CommandResult result = mrclab(words);
    CAPTURE(result.output);
    CHECK(result.code == 2);
    CHECK(result.output.find("expected a redirection such as --json > results.json") !=
          std::string::npos);
  }
}

}  // namespace mrclab::lab
