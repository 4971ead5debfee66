// The carriers of a run as lines of syslog, and back.

#include "recorded/run/syslog_export.h"

#include <doctest/doctest.h>

#include <map>

#include "fabric/text/input_error.h"
#include "scenario/import/incident_import.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {
namespace {

const std::string kBroken = R"(
name: broken
fabric: octet
seed: 1
workload:
  - permutation: {hosts: all, load: 10%, message: 64KiB}
faults:
  - {at: 100us, link_down: {link: "p0.t0-0:u1", for: 33.123456us}}
  - {at: 120.000001us, flap: {link: "p1.t0-1:u2", count: 3, down: 5us, up: 7us}}
  - {at: 150us, optic_glitch: {optic: "p2.t0-0:o0", down: 20us, stagger: 1us}}
  - {at: 160us, port_down: {port: "h3:p4", for: 10us}}
end: 300us
)";

Scenario scenario_of(const std::string& text) {
  return parse_scenario(read_yaml_text(text, "broken.yaml"));
}

/// When each link went dark and was lit again, as (link, from, until).
using Outages = std::multimap<uint32_t, std::pair<FabricTime, FabricTime>>;

/// A link is dark while one of its ends is.
Outages outages_of(const Scenario& scenario) {
  Outages outages;
  std::map<uint32_t, std::pair<int, FabricTime>> dark;
  for (const ScheduledEffect& effect : scenario.schedule) {
    const auto* carrier = std::get_if<PortCarrier>(&effect.effect);
    if (carrier == nullptr) continue;
    const uint32_t link = scenario.topology.port(carrier->port).link.value;
    auto& [ends, from] = dark[link];
    if (!carrier->up && ends++ == 0) from = effect.at;
    if (carrier->up && --ends == 0) outages.emplace(link, std::pair(from, effect.at));
  }
  return outages;
}

Outages read_back(const Scenario& scenario, const SyslogExport& made) {
  const LinkLog log = read_link_log(made.log, "run.log", LogFormat::kAuto);
  CHECK(log.unread_lines == 0);
  const PortMap ports =
      PortMap::parse_yaml(read_yaml_text(made.ports, "run.map.yaml"), scenario.topology);
  ImportOptions options;
  options.compress = kUsualStretch;
  options.first = made.first;
  Outages outages;
  for (const ImportedOutage& outage :
       import_incident(log, ports, scenario.topology, options).outages) {
    outages.emplace(scenario.topology.port(outage.port).link.value,
                    std::pair(outage.at, outage.at + outage.duration));
  }
  return outages;
}

TEST_CASE(
    "import reads the lines of SONiC, EOS and mlx5_core back: the same links at the same times") {
  const Scenario scenario = scenario_of(kBroken);
  const Outages truth = outages_of(scenario);
  REQUIRE(truth.size() >= 6);
  for (const SwitchLog switches : {SwitchLog::kSonic, SwitchLog::kEos}) {
    const SyslogExport made = syslog_of(scenario, switches, kUsualStretch);
    CAPTURE(made.log);
    CHECK(read_back(scenario, made) == truth);
    CHECK(made.notes.empty());
  }
}

TEST_CASE("each system writes its own sentence, with its own time and name of the port") {
  const Scenario scenario = scenario_of(kBroken);
  const std::string sonic = syslog_of(scenario, SwitchLog::kSonic, kUsualStretch).log;
  CHECK(sonic.find("2026 Jan  1 00:01:40.000000 p0.t0-0 NOTICE swss#orchagent: :- "
                   "updatePortOperStatus: Port Ethernet") == 0);
  CHECK(sonic.find("00:02:40.000000+00:00 h3 kernel: [  160.000000] mlx5_core 0000:1e:00.0 eth4: "
                   "Link down\n") != std::string::npos);
  const std::string eos = syslog_of(scenario, SwitchLog::kEos, kUsualStretch).log;
  CHECK(eos.find("2026-01-01T00:01:40.000000+00:00 p0.t0-0 Ebra: %LINEPROTO-5-UPDOWN: Line "
                 "protocol on Interface Ethernet") == 0);
}

TEST_CASE("what no device reports is in no line but in a note, and a stretch of years is refused") {
  const Scenario silent = scenario_of(R"(
name: silent
fabric: pair
workload:
  - permutation: {hosts: all, load: 10%, message: 64KiB}
faults:
  - {at: 100us, blackhole: {link: "p0.t0-0:u0", direction: up, for: 20us}}
  - {at: 110us, wire_loss: {link: "p1.t0-0:u0", loss: 20%, for: 20us}}
  - {at: 150us, switch_crash: {switch: p1.t1-0, for: 30us}}
end: 300us
)");
  const SyslogExport made = syslog_of(silent, SwitchLog::kEos, kUsualStretch);
  CHECK(made.notes.size() == 2);
  CHECK(made.log.find("p0.") == std::string::npos);
  // It has no power when its ports go dark; its neighbours have, and it boots again.
  CHECK(made.log.find("00:02:30.000000+00:00 p1.t1-0") == std::string::npos);
  CHECK(made.log.find("00:02:30.000000+00:00 p1.t0-0 Ebra") != std::string::npos);
  CHECK(made.log.find("00:03:00.000000+00:00 p1.t1-0 Ebra") != std::string::npos);
  CHECK_THROWS_AS(syslog_of(silent, SwitchLog::kEos, 0), InputError);
  CHECK_THROWS_AS(syslog_of(scenario_of(kBroken + "\n"), SwitchLog::kEos, kMaxStretch + 1),
                  InputError);
}

}  // namespace
}  // namespace mrclab::lab
