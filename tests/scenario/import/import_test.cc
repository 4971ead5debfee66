// Logs of link events to scenarios.

#include <doctest/doctest.h>

#include "fabric/topology/fabric_file.h"
#include "scenario/import/incident_import.h"
#include "scenario/spec/scenario.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/errors.h"
#include "tests/support/nightly.h"

using namespace mrclab;
using namespace mrclab::lab;
using mrclab::test::error_of;

namespace {

const Topology& octet() {
  static const Topology topology = read_fabric_file(lab::find_fabric("octet"));
  return topology;
}

LinkLog log_of(const std::string& text, LogFormat format = LogFormat::kAuto) {
  return read_link_log(text, "x.log", format);
}

PortMap map_of(const std::string& text) {
  return PortMap::parse_yaml(read_yaml_text(text, "map.yaml"), octet());
}

/// With leaf ports a1, a2, ... as the downlinks of p0.t0-0 from d1 on.
ImportedIncident import_csv(const std::string& text, ImportOptions options = {}) {
  if (!options.compress) options.compress = 100'000;
  return import_incident(log_of(text, LogFormat::kCsv), map_of("a*: p0.t0-0:d{1}\nn1: h1:p0\n"),
                         octet(), options);
}

int64_t ns_of(std::string_view text) {
  const auto time = read_log_time(text);
  REQUIRE(time.has_value());
  return time->time.ns;
}

const ImportText kText{"x", "x.csv", "octet", "all_reduce: {hosts: all, size: 8MiB, until: end}"};

}  // namespace

TEST_CASE("a timestamp is read as ISO, BSD and NX-OS write it, with zone and fraction") {
  CHECK(ns_of("1970-01-02T00:00:01Z") == 86'401'000'000'000);
  CHECK(ns_of("2024-03-12T10:11:12.5+01:00") == ns_of("2024-03-12 09:11:12,500"));
  CHECK(ns_of("2024 Mar 12 10:11:12.123456 x") == ns_of("2024-03-12T10:11:12.123456Z"));
  CHECK(read_log_time("Mar  2 10:11:12 leaf")->length == 15);
  CHECK(read_log_time("Mar  2 10:11:12.25")->time.resolution == 10'000'000);
  for (const char* bad : {"", "Mar", "Mar 2", "Foo  2 10:11:12", "2024-13-01T00:00:00Z", "10:11:12",
                          "Mar 32 10:11:12", "2024-03-12T25:00:00Z", "arM  2 10:11:12"}) {
    CAPTURE(bad);
    CHECK_FALSE(read_log_time(bad).has_value());
  }
}

TEST_CASE("a log without years may pass a new year, with late lines, and a 29th of February") {
  const auto span = [](const std::string& a, const std::string& b, const std::string& c) {
    const LinkLog log = log_of(a + " l kernel: e1: Link is Down\n" + b +
                               " l kernel: e1: Link is Up\n" + c + " l kernel: e1: Link is Down\n");
    return (log.events[2].time.ns - log.events[0].time.ns) / 1'000'000'000;
  };
  CHECK(span("Dec 31 23:59:59", "Jan  1 00:00:00", "Jan  1 00:00:01") == 2);
  CHECK(span("Jan  1 00:00:01", "Dec 31 23:59:59", "Jan  1 00:00:02") == 1);
  CHECK(span("Feb 28 00:00:00", "Feb 29 00:00:00", "Mar  1 00:00:00") == 2 * 86'400);
  CHECK(span("Feb 28 00:00:00", "Feb 28 00:00:00", "Mar  1 00:00:00") == 86'400);
  CHECK(span("Dec 31 23:59:59", "2027-01-01T00:00:00Z", "Jan  1 00:00:01") == 2);
}

TEST_CASE("a message about something else, or about a link in other words, is no link event") {
  for (const char* other : {"%BGP-5-ADJCHANGE: neighbor 10.0.0.1 Down Interface flap",
                            "detected link down", "port 3 is downstream", "e1: Link is Downed"}) {
    CAPTURE(other);
    CHECK_FALSE(read_link_message(other).has_value());
  }
}

TEST_CASE("a map's patterns compute names, and exact entries go before them") {
  const PortMap map = map_of(
      "leaf-7 Ethernet12: h0:p0\n"
      "leaf-* Ethernet*: p{1}.t0-0:d{2/4}\n"
      "sw* *: p{1}.t1-0:{2}\n");
  const auto name = [&](const std::string& logged) {
    const auto port = map.find(logged);
    return port ? octet().port_name(*port) : "";
  };
  CHECK(name("leaf-7 Ethernet12") == "h0:p0");
  CHECK(name("leaf-7   Ethernet8") == "p7.t0-0:d2");
  CHECK(name("sw3 d1") == "p3.t1-0:d1");
  CHECK(name("sw3 d1 d2") == "");
  CHECK(name("spine Ethernet8") == "");
  CHECK_THROWS_AS(name("leaf-x Ethernet8y"), InputError);
  CHECK(error_of([&] { name("leaf-9 Ethernet8"); }).find("map.yaml:2:") == 0);
  for (const char* bad : {"a: p0.t0-0:d9", "a: [x]", "[a]", "a: h0:p0\na : h1:p0", "'': h0:p0"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(map_of(bad), InputError);
  }
  const PortMap csv =
      PortMap::parse_csv("device,port,name\nl1,e1,h0:p1\ne2,h0:p2\n", "m.csv", octet());
  CHECK(csv.find("l1 e1") == octet().find_port("h0:p1"));
  CHECK(csv.find("e2") == octet().find_port("h0:p2"));
}

TEST_CASE("events become outages at exact times, the shortest kept in sight") {
  const ImportedIncident in = import_csv(
      "time,port,event,rate\n10,a1,down,\n12.5,a2,errors,2%\n15,a1,up,\n17.5,a2,clear,\n"
      "18,a3,errors,1e-6\n");
  REQUIRE(in.outages.size() == 3);
  CHECK(in.outages[1].at - in.outages[0].at == FabricTime::from_us(25));
  CHECK(in.outages[0].duration == FabricTime::from_us(50));
  CHECK(in.outages[1].duration == FabricTime::from_us(50));
  const std::string yaml = to_yaml(in, octet(), kText);
  CHECK(yaml.find("link_down: {link: \"p0.t0-0:d1\", for: 50us}") != std::string::npos);
  CHECK(yaml.find("wire_loss: {wire: \"h2:p0->p0.t0-0:d2\", loss: 2%, for: 50us}") !=
        std::string::npos);
  CHECK(yaml.find("100,000 times faster") != std::string::npos);
  CHECK(yaml.find("shorter than 10 RTT") != std::string::npos);
  CHECK(summary(in, octet()).find("--compress ") != std::string::npos);
  const Scenario scenario = parse_scenario(read_yaml_text(yaml, "x.yaml"));
  CHECK(scenario.faults.size() == 3);
  CHECK(scenario.expect.size() == 3);  // not healed
}

TEST_CASE("what a log gets wrong is counted, and what stays broken is not said to heal") {
  const ImportedIncident in = import_csv(
      "0,a1,up\n5,a1,down\n4,a2,down\n6,a1,down\n7,n1,down\n8,a1,up\n9,n1,up\n20,a3,down\n20,a3,"
      "up\n");
  CHECK(in.ups_alone == 1);
  CHECK(in.unsorted == 1);
  CHECK(in.doubled == 1);
  CHECK(in.within_a_tick == 2);
  REQUIRE(in.outages.size() == 3);
  CHECK(in.outages[0].until == std::nullopt);
  // The link is down as long as one of its ends reports that: 5 s to 9 s.
  CHECK(in.outages[1].duration == FabricTime::from_us(40));
  CHECK(in.outages[2].duration == FabricTime::from_us(5));
  const std::string yaml = to_yaml(in, octet(), kText);
  CHECK(yaml.find("- healed") == std::string::npos);
  CHECK(yaml.find("1 of them open at the end") != std::string::npos);
  parse_scenario(read_yaml_text(yaml, "x.yaml"));
}

TEST_CASE(
    "quiet time is cut where nothing is broken, and auto keeps the shortest outage in sight") {
  const std::string day = "0,a1,down\n5,a1,up\n86400,a2,down\n86410,a2,up\n";
  ImportOptions options;
  options.quiet = FabricTime::from_us(200);
  const ImportedIncident cut = import_csv(day, options);
  CHECK(cut.outages[1].at - cut.outages[0].at == FabricTime::from_us(250));
  CHECK(cut.quiet_removed == FabricTime::from_us(863'950 - 200));
  const LinkLog log = log_of(day);
  const ImportedIncident with_quiet =
      import_incident(log, map_of("a*: p0.t0-0:d{1}"), octet(), options);
  CHECK(with_quiet.shortest >= octet().base_rtt * kShortestOutageRtts);
  const ImportedIncident without = import_incident(log, map_of("a*: p0.t0-0:d{1}"), octet(), {});
  CHECK(without.end < FabricTime::from_us(25'000));
  CHECK(without.shortest < octet().base_rtt);
}

TEST_CASE("a host without any link is not expected to keep its queue pairs") {
  std::string log;
  for (int plane = 0; plane < 8; ++plane) log += "1,h3:p" + std::to_string(plane) + ",down\n";
  const auto import = [&](const std::string& text) {
    return import_incident(log_of(text), map_of("h3:p*: h3:p{1}"), octet(), {});
  };
  CHECK(import(log).host_cut_off);
  CHECK(to_yaml(import(log), octet(), kText).find("- no_qp_error") == std::string::npos);
  CHECK_FALSE(import(log.substr(0, log.rfind("1,"))).host_cut_off);
}

TEST_CASE("bad input names its line, and unknown ports are refused or left out") {
  const auto error = [](const std::string& text) {
    return error_of([&] { log_of(text, LogFormat::kCsv); });
  };
  CHECK(error("soon,a1,up,\n").find("x.log:1: found \"soon\"") == 0);
  CHECK(error("0,a1,sideways\n").find("x.log:1: found \"sideways\"") == 0);
  CHECK(error("0,a1,errors,lots\n").find("x.log:1: found \"lots\"") == 0);
  CHECK(error("0,a1,errors,300%\n").find("x.log:1:") == 0);
  CHECK(error("0,a1,errors,1e-1\n").find("x.log:1:") == 0);
  CHECK(error("0,,down\n").find("x.log:1: found no port") == 0);
  CHECK(error("0,a1,up,5%\n").find("x.log:1: found a rate") == 0);
  CHECK(error("port,event\na1,up\n").find("x.log:1:") == 0);
  CHECK(error("").find("no link event") != std::string::npos);
  CHECK(error("0,a1," + std::string(5000, 'x') + "\n").find("x.log:1: found 5005 characters") == 0);
  CHECK(error_of([] { log_of("e1: Link is Down\n"); }).find("x.log:1: ") == 0);
  CHECK(error_of([] { import_csv("0,a1,down\n1,b1,down\n"); }).find("\"b1\"") != std::string::npos);
  ImportOptions skip;
  skip.skip_unknown = true;
  CHECK(import_csv("0,a1,down\n1,b1,down\n", skip).unknown.at("b1") == 1);
  CHECK_THROWS_AS(import_csv("1,b1,down\n", skip), InputError);
  CHECK_THROWS_AS(import_csv("0,a1,up\n"), InputError);
}

TEST_CASE("whatever bytes a log or a map holds, it is read or refused") {
  const std::string logs[] = {
      "Dec 31 23:59:31 leaf-1 Ebra: Interface Ethernet1, changed state to down",
      "0.5,\"a1\",errors,1e-6\n1,a1,up\n2,a2,down"};
  const PortMap map = map_of("a*: p0.t0-0:d{1}\nleaf-* Ethernet*: p0.t0-0:d{2}");
  uint32_t state = 1;
  const auto draw = [&](size_t below) {
    state = state * 1'664'525 + 1'013'904'223;
    return (state >> 8) % below;
  };
  size_t imported = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string text = logs[i % 2];
    for (size_t n = draw(4); n > 0; --n) text[draw(text.size())] = static_cast<char>(draw(256));
    try {
      import_incident(log_of(text), map, octet(), {});
      PortMap::parse_csv(text, "m.csv", octet());
      ++imported;
    } catch (const InputError&) {
    }
  }
  CHECK(imported < 4000);
}

TEST_CASE("the file of a log may be called anything: the scenario is read all the same") {
  const std::filesystem::path folder =
      std::filesystem::path(MRCLAB_SOURCE_DIR) / "topologies/imports";
  const LinkLog log = read_link_log_file(folder / "rack-3.log", LogFormat::kAuto);
  const PortMap ports = PortMap::read(folder / "rack-3.map.yaml", octet());
  const ImportedIncident in = import_incident(log, ports, octet(), {});
  ImportText text = kText;
  text.name = "null";
  for (const char* source : {"a \"b\": #c", "\x1b[31m", "\xff", "\xc2\x85", "x\ny"}) {
    text.source = source;
    const std::string yaml = to_yaml(in, octet(), text);
    CAPTURE(yaml);
    CHECK(parse_scenario(read_yaml_text(yaml, "x.yaml")).name == "null");
  }
}

TEST_CASE("the shipped log becomes a scenario that passes in the simulator" *
          doctest::test_suite(test::kWholeRun)) {
  const std::filesystem::path folder =
      std::filesystem::path(MRCLAB_SOURCE_DIR) / "topologies/imports";
  const LinkLog log = read_link_log_file(folder / "rack-3.log", LogFormat::kAuto);
  const PortMap ports = PortMap::read(folder / "rack-3.map.yaml", octet());
  const ImportedIncident in = import_incident(log, ports, octet(), {});
  CHECK(in.outages.size() == 6);
  CHECK(in.other_lines == 1);
  ImportText text = kText;
  text.workload = "permutation: {hosts: all, load: 30%, message: 64KiB, shift: 4}";
  const Scenario scenario = parse_scenario(read_yaml_text(to_yaml(in, octet(), text), "x.yaml"));
  const RunResult result = test::TemporaryRuns().run(scenario);
  CHECK(result.verdict.result == analysis::Result::kPass);
  CHECK(result.verdict.faults.size() == 6);
}
