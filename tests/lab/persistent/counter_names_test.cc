// Each counter of a switch and of a host has a row in the table of names, and no row is about a counter that nobody has.

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "endpoint/host/host_account.h"
#include "fabric/history/report_json.h"
#include "switchd/counters.h"
#include "telemetry/counter_table.h"

namespace mrclab::lab {
namespace {

using telemetry::Counts;

std::set<std::string> named_at(Counts at) {
  std::set<std::string> words;
  for (const telemetry::CounterRow& row : telemetry::counter_rows()) {
    if (row.at == at && !row.series_only) words.emplace(row.word);
  }
  return words;
}

/// Of a switch at whose port everything happened.
std::set<std::string> switch_words() {
  switchd::SwitchCounters counters;
  switchd::PortCounters& port = counters.ports.emplace_back();
  port.tx_copies = port.xoff_sent = port.xon_sent = port.xoff_received = port.xon_received = 1;
  port.lossless_depth_max = Bytes{1};
  port.drops.fill(1);
  std::set<std::string> words;
  for (const auto& [name, value] : named(counters, {"u0"})) {
    if (name.starts_with("u0.")) words.insert(name.substr(3));
  }
  return words;
}

/// Drops of hosts and of the machine alone, which no switch counts.
bool is_of_no_switch(const std::string& word) {
  const std::set<std::string> others{
      "drop.none",      "drop.no_receiver",  "drop.bad_icrc",
      "drop.no_buffer", "drop.host_down",    "drop.receive_buffer_full",
      "drop.no_bitmap", "drop.out_of_order", "drop.not_ready"};
  return others.contains(word);
}

TEST_CASE("every counter of a switch's port has a name for others, and no name is without one") {
  const std::set<std::string> named = named_at(Counts::kPort);
  const std::set<std::string> counted = switch_words();
  for (const std::string& word : counted) {
    CHECK_MESSAGE(named.contains(word) != is_of_no_switch(word), word);
  }
  for (const std::string& word : named) CHECK_MESSAGE(counted.contains(word), word);
}

TEST_CASE("every counter of a host has a name for others, and no name is without one") {
  endpoint::HostStats stats;
  stats.planes.resize(1);
  const nlohmann::json report = report_to_json(stats);
  std::set<std::string> counted, ports;
  for (const auto& [key, value] : report.items()) {
    if (key == "planes") {
      for (const auto& [word, count] : value[0].items()) ports.insert(word);
    } else if (!value.is_structured()) {
      counted.insert(key);
    }
  }
  // Of these the reasons have a family together, and eight a name of their own besides.
  const std::set<std::string> unnamed{"datagrams_sent", "collectives_completed",
                                      "no_buffer",      "memory_faults",
                                      "qps_pending",    "qps_active",
                                      "qps_ready",      "qps_ended"};
  const std::set<std::string> named = named_at(Counts::kHost);
  for (const std::string& word : counted) {
    CHECK_MESSAGE(named.contains(word) != unnamed.contains(word), word);
  }
  for (const std::string& word : named) {
    const bool refused = word.starts_with("refused.") &&
                         report.at("refused").contains(word.substr(std::string("refused.").size()));
    CHECK_MESSAGE((counted.contains(word) || refused), word);
  }
  CHECK(named_at(Counts::kHostPort) == ports);
}

}  // namespace
}  // namespace mrclab::lab
