// IPFIX as SONiC's high-frequency telemetry has it, byte by byte.

#include "telemetry/ipfix_export.h"

#include <doctest/doctest.h>

#include "fabric/topology/fabric_file.h"
#include "telemetry/sai_numbers.h"
#include "tests/support/shipped_fabric.h"

namespace mrclab::telemetry {
namespace {

uint64_t number(const std::string& bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) value = value << 8 | static_cast<uint8_t>(bytes.at(at + i));
  return value;
}

TEST_CASE("a template names the time and each statistic of each object, and records follow it") {
  const Topology topology = read_fabric_file(test::shipped_fabric("pair"));
  const PortRef port = topology.find_port("p0.t0-0:u0").value();
  CounterSeries series(topology, FabricTime::from_us(10));
  const auto row = [](const char* word) { return *find_counter(Counts::kPort, word); };
  series.add(port, *find_counter(Counts::kPort, "arrivals_lost"), FabricTime::from_us(5), 7);
  // Two of our causes are one statistic of SAI: IF_IN_ERRORS.
  series.add(port, *find_counter(Counts::kPort, "drop.frame_check"), FabricTime::from_us(15), 2);
  CHECK(row("arrivals_lost").sonic == row("drop.frame_check").sonic);
  const IpfixExport made = ipfix_of(series, topology);
  REQUIRE(made.messages == 2);
  CHECK(made.fields == 1);
  CHECK(made.records == 3);
  const std::string& b = made.bytes;
  CHECK(number(b, 0, 2) == 10);       // version
  CHECK(number(b, 2, 2) == 16 + 20);  // length of the message with the template
  CHECK(number(b, 12, 4) == port.node.value + 1);
  CHECK(number(b, 16, 2) == 2);    // template set
  CHECK(number(b, 20, 2) == 256);  // its number, and two fields
  CHECK(number(b, 22, 2) == 2);
  CHECK(number(b, 24, 2) == 325);
  CHECK(number(b, 26, 2) == 8);
  CHECK(number(b, 28, 2) == (0x8000u | (port.port.value + 1)));
  CHECK(number(b, 30, 2) == 8);
  CHECK(number(b, 32, 4) == 0x0001'0004);  // a port's IF_IN_ERRORS
  const size_t data = 36 + 16 + 4;
  CHECK(number(b, data - 4, 2) == 256);
  CHECK(number(b, data, 8) == 0);
  CHECK(number(b, data + 16, 8) == 10'000);  // ns of fabric time
  CHECK(number(b, data + 24, 8) == 7);
  CHECK(number(b, data + 32, 8) == 20'000);
  CHECK(number(b, data + 40, 8) == 9);
  CHECK(b.size() == data + 48);
  CHECK(made.objects.find(",Ethernet") != std::string::npos);
}

TEST_CASE("what needs more than a message has several, each within its length") {
  const Topology topology = read_fabric_file(test::shipped_fabric("pair"));
  const PortRef port = topology.find_port("p0.t0-0:u0").value();
  CounterSeries series(topology, FabricTime::from_ns(10));
  series.add(port, *find_counter(Counts::kPort, "rx"), FabricTime::from_us(99), 1);
  const IpfixExport made = ipfix_of(series, topology);
  CHECK(made.records == series.steps());
  size_t messages = 0;
  for (size_t at = 0; at < made.bytes.size(); at += number(made.bytes, at + 2, 2)) {
    ++messages;
    CHECK(number(made.bytes, at, 2) == 10);
  }
  CHECK(messages == made.messages);
  CHECK(messages > 2);
}

TEST_CASE("every statistic of SAI that the table of counters names has its number") {
  for (const CounterRow& row : counter_rows()) {
    CAPTURE(row.word);
    if (!row.sonic.empty()) CHECK(sai_number(row.sonic).has_value());
  }
}

}  // namespace
}  // namespace mrclab::telemetry
