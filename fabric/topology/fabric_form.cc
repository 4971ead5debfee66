#include "fabric/topology/fabric_form.h"

#include <algorithm>

#include "fabric/topology/dscp.h"
#include "fabric/topology/fabric_shape.h"

namespace mrclab {
namespace {

using Form = ValueForm;
using Kind = ValueForm::Kind;
using Key = ValueForm::Key;

constexpr int64_t kMaxLinksPerOptic = 256;
constexpr size_t kMaxLinkRates = 64;
/// cx8's times divided by more would be below a picosecond.
constexpr int64_t kMostCompressed = 1'000'000;

const Form kTime = Form::of(Kind::kTime), kRate = Form::of(Kind::kRate),
           kSwitch = Form::of(Kind::kSwitch), kText = Form::of(Kind::kText),
           kMultiple = Form::of(Kind::kMultiple);

/// The most that either address plan has room for; the reader bounds it by the plan in use.
int64_t most_of(UsidRole role) {
  return std::max(UsidLayout::of(AddressPlan::kLab).count(role),
                  UsidLayout::of(AddressPlan::kFull).count(role));
}

int64_t most_planes() {
  return std::max(UsidLayout::of(AddressPlan::kLab).planes(),
                  UsidLayout::of(AddressPlan::kFull).planes());
}

/// `off`, which is a switch where it stands alone, or a map with the details.
Form switch_or(Form map) { return Form::either({kSwitch, std::move(map)}); }

/// Its reader checks what stands behind the word.
Form off_or(Form map) { return Form::either({Form::word({"off"}).elsewhere(), std::move(map)}); }

/// A word for all switches, or words by planes and switches.
Form word_by_switch(const std::vector<std::string>& words) {
  return Form::either({Form::word(words), Form::map_of(Form::word(words))});
}

Form routing_form() {
  const std::vector<std::string> words{"srv6", "ecmp", "fare"};
  return Form::either(
      {Form::word(words),
       Form::map(
           {{"default", Form::word(words), "what workloads have that do not set it"},
            {"underlay", Form::word({"ipv6", "ipv4"}), "ecmp: what packets are"},
            {"hash_seed", Form::word({"per_switch", "same"}),
             "same: all switches choose alike, so that choices are not independent"},
            {"resilient", kSwitch, "ecmp: groups are tables of buckets"},
            {"spray", Form::word({"packet", "flow"}),
             "fare: each packet the next member of a weighted group, or each flow one by its hash"},
            {"delays", Form::word({"ideal", "frr", "hardware"}),
             "fare: what a switch takes to notice, decide and write its table: nothing, FRR 8.4 as "
             "measured, or our "
             "guess of an ASIC's, of which nobody has published a figure"},
            {"bfd", Form::either({Form::word({"off"}), kTime}),
             "fare: between BFD packets, whole microseconds from 10us"},
            {"nics", Form::word({"off", "all", "aggregates", "wanted"}),
             "fare: which routes NICs get; off: they do not speak BGP"},
            {"ready", kTime, "fare: when workloads begin that do not set it"}})});
}

Form nic_form() {
  const Form profile = Form::word({"ideal", "cx8"});
  const Form range = Form::either({kTime, Form::list(kTime, 2, 2)});
  return Form::either(
      {profile,
       Form::map({{"profile", profile, "times of a NIC's model"},
                  {"compress", Form::integer(1, kMostCompressed), "its times divided by this"},
                  {"name", Form::of(Kind::kName), "a NIC of one's own, with the times below"},
                  {"port_down_delay", kTime, "until a dead port is noticed"},
                  {"port_up_delay", kTime, "until a port that is back is noticed"},
                  {"remap_down", range, "until paths avoid a dead port: [shortest, longest]"},
                  {"remap_up", range, "until paths use a port again"}})});
}

Form dscp_form() {
  std::vector<Key> keys;
  keys.reserve(std::size(kDscpClasses));
  for (const DscpClass& each : kDscpClasses) {
    keys.push_back({std::string(each.name), Form::integer(0, kMaxDscp), "DSCP of this class"});
  }
  return Form::map(std::move(keys));
}

Form roce_form() {
  return Form::map(
      {{"pfc", kSwitch, "pause frames (IEEE 802.1Q PFC) for RoCE's data"},
       {"adaptive_routing", kSwitch, "switches take the emptiest of equal ports for each packet"},
       {"red",
        Form::map({{"min", kMultiple, "no mark below"},
                   {"max", kMultiple, "every packet marked from here on"},
                   {"most", Form::of(Kind::kShare), "share that is marked just below"}}),
        "ECN marks by the length of the queue"},
       {"tail_drop", kMultiple, "the longest queue without PFC"},
       {"buffer", kMultiple, "the buffer that ports share, for each of them"},
       {"alpha", kMultiple, "share of the free buffer that one port may take"},
       {"watchdog", watchdog_form(), "what ends a pause that lasts"}});
}

}  // namespace

Form watchdog_form() {
  return off_or(Form::map({{"detect", kTime, "a pause this long is one", Key::kRequired},
                           {"restore", kTime, "without a pause, until it ends", Key::kRequired},
                           {"action", Form::word({"drop", "forward"}),
                            "what then happens to packets of a paused queue"}}));
}

const ValueForm& fabric_form() {
  static const Form kForm = Form::map(
      {{"name", Form::of(Kind::kName), "what the fabric is called", Key::kRequired},
       {"about", kText, "for people"},
       {"planes", Form::integer(1, most_planes()), "independent leaf-spine fabrics"},
       {"t0", Form::integer(1, most_of(UsidRole::kT0)), "leaf switches of a plane"},
       {"t1", Form::integer(0, most_of(UsidRole::kT1)), "spine switches of a plane"},
       {"hosts_per_t0", Form::integer(1, most_of(UsidRole::kNicPort)), "hosts on each T0"},
       {"address_plan", Form::word({"lab", "full"}),
        "what a uSID's bits mean; full: up to 131,072 hosts"},
       {"switches", Form::map_of(Form::of(Kind::kHex)),
        "in place of planes: names of switches, each with its uSID, four hex digits"},
       {"hosts", Form::list(Form::list(kText, 1, GraphShape::kMaxPorts), 2, GraphShape::kMaxHosts),
        "in place of planes: for each host the switches that its NIC ports hang on"},
       {"links", Form::map_of(Form::list(kText)),
        "in place of planes: for each lower switch, or pattern, the switches above it"},
       {"host_rate", kRate, "of the links of hosts"},
       {"fabric_rate", kRate, "of the links between switches; absent: host_rate"},
       {"link_rates",
        Form::list(Form::map({{"links", kText, "names or a pattern", Key::kRequired},
                              {"rate", kRate, "theirs", Key::kRequired}}),
                   0, kMaxLinkRates),
        "links with other rates; the last entry that names a link counts"},
       {"propagation", kTime, "of each wire, at most 10ms"},
       {"switch_latency", kTime, "from a packet's arrival to its queue, at most 10ms"},
       {"host_latency", kTime, "from a packet's arrival to the NIC's decision, at most 10ms"},
       {"pmtu", Form::integer(256, 4096), "bytes of payload in a packet"},
       {"optics",
        off_or(Form::map({{"t0_downlinks", Form::integer(1, kMaxLinksPerOptic),
                           "links of a T0 to hosts that share a transceiver", Key::kRequired}})),
        "transceivers that several links share"},
       {"forwarding", word_by_switch({"switchd", "kernel", "ovs", "bpf"}),
        "who forwards: our switch, the kernel's SRv6, Open vSwitch, a program in the kernel; or by "
        "plane and switch"},
       {"routing", routing_form(), "how packets find their way"},
       {"speaker", word_by_switch({"bgpd", "frr", "bird", "exabgp"}),
        "fare: the BGP of kernel switches: ours over sockets, FRR, BIRD, ExaBGP"},
       {"wires", Form::word({"veth", "fast"}),
        "fast: wires between switches of a plane stay inside a process"},
       {"decap", Form::word({"nic", "leaf"}), "which node strips the outer header"},
       {"segments", Form::word({"node", "adjacency"}), "what a carrier names: switches, or links"},
       {"ecn",
        switch_or(Form::map({{"min", kMultiple, "no mark below"},
                             {"max", kMultiple, "every packet marked from here on"}})),
        "marks by the length of the queue"},
       {"trim",
        switch_or(Form::map({{"threshold", kMultiple, "the queue from which packets are cut"},
                             {"last_hop", kMultiple, "the same, towards hosts"}})),
        "packets that find a full queue lose their payload and travel on"},
       {"queues",
        Form::map({{"control", kMultiple, "limit of the queue of control packets"},
                   {"trimmed", kMultiple, "limit of the queue of trimmed packets"},
                   {"tail_drop", kMultiple, "limit of the queue of data"}}),
        "lengths of a port's queues"},
       {"dscp", dscp_form(), "the classes' code points"},
       {"roce", roce_form(), "how switches treat RoCE's data"},
       {"nic", nic_form(), "how long a NIC takes to notice a port and to avoid it"}});
  return kForm;
}

}  // namespace mrclab
