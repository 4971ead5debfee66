// top: how busy a running lab is.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "console/interrupt.h"
#include "console/json_print.h"
#include "console/progress.h"
#include "console/root_rights.h"
#include "console/terminal.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/fabric_file.h"
#include "lab/persistent/lab_choice.h"
#include "lab/persistent/labd_client.h"
#include "lab/persistent/link_load.h"
#include "lab/verbs/cli.h"
#include "netio/rpc/heartbeat.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookForSignals{50};
constexpr size_t kRowsInPipe = 16;

struct TopOptions {
  std::optional<std::string> name;
  std::optional<std::string> lab;
  std::string only;  ///< a pattern; empty: all links
  double every = 1;  ///< seconds of the wall clock
  std::optional<uint64_t> count;
  std::optional<size_t> rows;
  bool as_json = false;
};

void leave_out_others(const std::string& pattern, std::vector<DirectionLoad>& loads) {
  if (pattern.empty()) return;
  std::vector<std::string> ports;
  for (const DirectionLoad& load : loads) ports.insert(ports.end(), {load.from, load.to});
  check_only(pattern, ports, "node and no port");
  std::erase_if(loads, [&](const DirectionLoad& load) {
    for (const std::string& port : {load.from, load.to}) {
      if (names_port(pattern, port)) return false;
    }
    return true;
  });
}

/// One look after another at one lab.
class LoadWatch {
 public:
  LoadWatch(const TopOptions& options, const LabRecord& record)
      : options_(options),
        lab_(record.lab),
        folder_(LabPaths{}.lab_directory(record.lab)),
        topology_(read_fabric_file(folder_ / "fabric.yaml")) {}

  /// Returns false when the lab is gone.
  bool look(bool redraw) {
    CounterSample now;
    try {
      now = read_counters(topology_, folder_);
    } catch (const netio::SystemError&) {
      return false;
    }
    if (now.switches.empty()) {
      if (before_) return false;
      throw InputError("lab " + lab_ + " has no switch of ours that counts; see mrclab inspect");
    }
    std::vector<DirectionLoad> loads = link_loads(topology_, before_ ? &*before_ : nullptr, now);
    leave_out_others(options_.only, loads);
    sort_by_load(loads);
    show(loads, now.reached(), redraw);
    before_ = std::move(now);
    return true;
  }

 private:
  void show(const std::vector<DirectionLoad>& loads, FabricTime reached, bool redraw) const {
    const FabricTime since = before_ ? before_->reached() : FabricTime();
    if (options_.as_json) {
      fmt::print("{}\n", printed(json{{"lab", lab_},
                                      {"since_ps", since.ps()},
                                      {"until_ps", reached.ps()},
                                      {"links", load_json(loads)}},
                                 "load"));
    } else {
      constexpr std::string_view kHomeAndClear = "\033[H\033[J";
      if (redraw) fmt::print("{}", kHomeAndClear);
      fmt::print("lab {}: fabric time {}, {}\n\n{}", lab_, to_string(reached),
                 reached == since ? std::string("standing")
                 : before_        ? "the last " + to_string(reached - since)
                                  : std::string("mean since the beginning"),
                 load_text(loads, rows()));
    }
    std::fflush(stdout);
  }

  /// What fits on the terminal: a plane takes a line, the headings and the frame around them seven.
  size_t rows() const {
    if (options_.rows) return *options_.rows;
    if (!wants_colour(stdout)) return kRowsInPipe;
    const size_t others = topology_.planes + 7;
    const size_t lines = terminal_rows(stdout);
    return lines > others + 4 ? lines - others : 4;
  }

  const TopOptions& options_;
  std::string lab_;
  std::filesystem::path folder_;
  Topology topology_;
  std::optional<CounterSample> before_;
};

int top_command(const TopOptions& options) {
  // The range of the option lets "nan" through, which is in no order with its ends.
  if (std::isnan(options.every)) throw InputError("--every: found \"nan\", expected a number");
  const LabRecord record = choose_lab(named_lab(options.name, options.lab), "as NAME");
  require_root("top");
  require_up(record);
  const bool terminal = wants_colour(stdout) && !options.as_json;
  const uint64_t count = options.count.value_or(terminal ? 0 : 1);
  const auto every = std::chrono::duration_cast<SteadyClock::duration>(
      std::chrono::duration<double>(options.every));
  const InterruptGuard guard;
  LoadWatch watch(options, record);
  uint64_t looks = 0;
  bool gone = false;
  auto due = SteadyClock::now();
  netio::keep_looking([&]() -> netio::Heartbeat::Next {
    if (guard.interrupted()) return std::nullopt;
    if (SteadyClock::now() < due) return kLookForSignals;
    due = std::max(due + every, SteadyClock::now());
    gone = !watch.look(terminal);
    if (gone || ++looks == count) return std::nullopt;
    return kLookForSignals;
  });
  if (gone) fmt::print(stderr, "lab {} is down\n", record.lab);
  return gone && looks == 0 ? 3 : 0;
}

}  // namespace

void add_top_verb(CLI::App& app, CliResult& result) {
  auto options = std::make_shared<TopOptions>();  // shared with the callback, which outlives this
  CLI::App* verb = add_verb(app, "top");
  verb->add_option("NAME", options->name, "the lab (default: the only one)");
  verb->add_option("--lab", options->lab, "the same as NAME");
  verb->add_option("--only", options->only,
                   "links of nodes and ports with this name or pattern: 'p2.*', h3, 'h*:p0'");
  verb->add_option("--every", options->every, "seconds between two looks")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  verb->add_option("--count", options->count,
                   "so many looks (default: until Ctrl-C on a terminal, one elsewhere)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000}));
  verb->add_option("--rows", options->rows, "so many links (default: what fits)")
      ->check(CLI::Range(size_t{1}, size_t{100'000}));
  verb->add_flag("--json", options->as_json, "all links, an object for each look");
  verb->footer(
      "The first look has means since the beginning of fabric time, each other one what "
      "was since the look before. A lab of 'mrclab run' can be looked at, too.\n"
      "Example: sudo mrclab top\n"
      "         sudo mrclab top --only 'p0.*' --count 3 --every 5");
  verb->callback([options, &result] { result.code = top_command(*options); });
}

}  // namespace mrclab::lab
