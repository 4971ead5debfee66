// A fabric's counters as text: which samples there are, and that each is what was counted.

#include "telemetry/fabric_metrics.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "fabric/topology/fabric_file.h"
#include "telemetry/counter_table.h"
#include "tests/support/shipped_fabric.h"
#include "tests/support/source_text.h"

namespace mrclab::telemetry {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool has(const std::string& text, const std::string& line) {
  const std::vector<std::string> lines = lines_of(text);
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

struct Pair {
  Topology topology = read_fabric_file(test::shipped_fabric("pair"));
  FabricCounts counts;

  Pair() {
    counts.lab = "one";
    counts.version = "1";
    counts.nodes["p0.t0-0"] = {FabricTime::from_us(20),
                               {{"total.trimmed", 4},
                                {"u0.trimmed", 4},
                                {"u0.drop.queue_full", 5},
                                {"u0.data_depth_bytes", 4096},
                                {"d0.rx_bytes", 1000},
                                {"d0.tx_bytes", 2000}}};
    counts.nodes["h0"] = {FabricTime::from_us(10),
                          {{"timeouts", 2},
                           {"planes.0.tx_packets", 7},
                           {"ev_probe_rtt_ps", 11'020'000},
                           {"refused.wrong_peer", 1},
                           {"qp_errors.retries", 3}}};
    counts.links_up.assign(topology.links.size(), true);
  }
  std::string text(const MetricsChoice& choice = {}) const {
    return metrics_text(topology, counts, choice);
  }
};

TEST_CASE("what a switch counted stands at its port, and what it did not stands there as zero") {
  const std::string text = Pair().text();
  const std::string at = "{node=\"p0.t0-0\",port=\"u0\",plane=\"0\"";
  CHECK(has(text, "mrclab_port_trimmed_packets_total" + at + "} 4"));
  CHECK(has(text, "mrclab_port_dropped_packets_total" + at + ",cause=\"queue_full\"} 5"));
  CHECK(has(text, "mrclab_port_dropped_packets_total" + at + ",cause=\"no_route\"} 0"));
  CHECK(has(text, "mrclab_port_queue_bytes" + at + ",queue=\"data\"} 4096"));
}

TEST_CASE("a host has its own names and those of the InfiniBand collector") {
  const std::string text = Pair().text();
  const std::string device = "{node=\"h0\",device=\"mlx5_0\",port=\"1\"}";
  CHECK(has(text, "mrclab_host_local_ack_timeout_err_total{node=\"h0\"} 2"));
  CHECK(has(text, "node_infiniband_local_ack_timeout_errors_total" + device + " 2"));
  CHECK(has(text, "node_infiniband_port_packets_transmitted_total" + device + " 7"));
  CHECK(has(text, "node_infiniband_port_data_transmitted_bytes_total" + device + " 1000"));
  CHECK(has(text, "node_infiniband_port_data_received_bytes_total" + device + " 2000"));
  CHECK(has(text, "mrclab_mrc_ev_probe_rtt_seconds{node=\"h0\"} 1.102e-05"));
  CHECK(has(text, "mrclab_host_refused_packets_total{node=\"h0\",reason=\"wrong_peer\"} 1"));
  CHECK(has(text, "mrclab_host_qp_errors_total{node=\"h0\",reason=\"retries\"} 3"));
}

TEST_CASE("a link without carrier, and a node that does not answer, are said") {
  Pair pair;
  CHECK(has(pair.text(), "node_infiniband_state_id{node=\"h0\",device=\"mlx5_0\",port=\"1\"} 4"));
  pair.counts.links_up.assign(pair.topology.links.size(), false);
  const std::string text = pair.text();
  CHECK(has(text, "mrclab_port_up{node=\"h0\",port=\"p0\",plane=\"0\"} 0"));
  CHECK(has(text, "node_infiniband_state_id{node=\"h0\",device=\"mlx5_0\",port=\"1\"} 1"));
  CHECK(has(text, "mrclab_node_up{node=\"h0\"} 1"));
  CHECK(has(text, "mrclab_node_up{node=\"h1\"} 0"));
  CHECK(text.find("mrclab_host_writes_completed_total{node=\"h1\"") == std::string::npos);
}

TEST_CASE("fabric time is that before which everything is counted") {
  CHECK(has(Pair().text(), "mrclab_fabric_time_seconds 1e-05"));
  Pair pair;
  pair.counts.nodes.clear();
  CHECK(has(pair.text(), "mrclab_fabric_time_seconds 0"));
}

TEST_CASE("by node there are sums, and a choice of nodes has those alone") {
  const Pair pair;
  const std::string text = pair.text({MetricsBy::kNode, "p0.t0-*"});
  CHECK(has(text, "mrclab_port_trimmed_packets_total{node=\"p0.t0-0\",plane=\"0\"} 4"));
  CHECK(text.find("port=\"u0\"") == std::string::npos);
  CHECK(text.find("h0") == std::string::npos);
}

TEST_CASE("no sample is there twice, families are not torn, and every word is one family's") {
  std::set<std::string> samples, families;
  std::string now;
  for (const std::string& line : lines_of(Pair().text())) {
    if (line.starts_with("# TYPE ")) {
      now = line.substr(7, line.find(' ', 7) - 7);
      CHECK_MESSAGE(families.insert(now).second, now);
    }
    if (line.starts_with('#')) continue;
    CHECK_MESSAGE(samples.insert(line.substr(0, line.rfind(' '))).second, line);
    CHECK_MESSAGE(line.starts_with(now), line);
  }
  std::set<std::string> words;
  for (const CounterRow& row : counter_rows()) {
    const std::string word = std::to_string(static_cast<int>(row.at)) + std::string(row.word);
    CHECK_MESSAGE(words.insert(word).second, row.word);
  }
}

TEST_CASE("the page of names is the table that the exporter has") {
  CHECK(test::source_text("docs/telemetry.md").ends_with(names_page()));
}

}  // namespace
}  // namespace mrclab::telemetry
