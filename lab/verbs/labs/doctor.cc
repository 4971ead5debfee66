#include "lab/verbs/labs/doctor.h"

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "console/json_print.h"
#include "console/terminal.h"
#include "lab/rdma/program_surroundings.h"
#include "live/bringup/bring_up.h"
#include "live/speakers/speaker_process.h"
#include "netio/kernel/bpf_program.h"
#include "netio/kernel/link.h"
#include "netio/kernel/node_container.h"
#include "netio/kernel/open_vswitch.h"
#include "netio/kernel/packet_filter.h"
#include "netio/kernel/route.h"
#include "netio/kernel/shaper.h"
#include "netio/packet/packet_port.h"
#include "netio/packet/send_ring.h"
#include "netio/system/child_process.h"
#include "netio/system/forked_process.h"
#include "netio/system/system_error.h"
#include "netio/system/tsc_fault.h"
#include "switchd/bpf/usid_switch_object.h"

namespace mrclab::lab {
namespace {

using netio::check_system_call;
using netio::NetworkNamespace;
using Finding = Diagnosis::Finding;

constexpr uint64_t kMegabyte = 1'000'000;
constexpr uint64_t kDiskNeeded = 500 * kMegabyte;  // captures and reports of some runs
#ifdef MRCLAB_HELD_DECODER
constexpr bool kReadsAreReplaced = true;
#else
constexpr bool kReadsAreReplaced = false;
#endif
constexpr uint64_t kMemoryNeeded = 1000 * kMegabyte;  // octet takes about 400 MB

NetworkNamespace enter_with_veth() {
  netio::enter_private_namespaces();
  NetworkNamespace here = NetworkNamespace::current();
  const std::array<netio::VethPair, 1> pair{{{{&here, "p0", {0x02, 0, 0, 0, 0, 1}, {}},
                                              {&here, "p1", {0x02, 0, 0, 0, 0, 2}, {}},
                                              netio::kLinkMtu}}};
  netio::create_veths(pair);
  netio::NamespaceNetlink netlink(here);
  netlink.set_up("p0");
  netlink.set_up("p1");
  return here;
}

void try_packet_ring() {
  const NetworkNamespace here = enter_with_veth();
  const netio::PacketSocket socket(here);
}

void try_route(const netio::RouteAction& action) {
  const NetworkNamespace here = enter_with_veth();
  netio::NamespaceNetlink netlink(here);
  netio::RouteBatch batch(netlink);
  netio::Route route;
  route.destination = netio::parse_prefix("5f00:0:2000::/48");
  route.dev = "p0";
  route.action = action;
  batch.route(route);
  batch.commit();
}

void try_realtime() {
  sched_param parameter{};
  parameter.sched_priority = 1;
  check_system_call("use SCHED_FIFO", ::sched_setscheduler(0, SCHED_FIFO, &parameter));
}

void try_shaper() {
  const NetworkNamespace here = enter_with_veth();
  netio::NamespaceNetlink netlink(here);
  netio::queue_shaper(netlink, "p0", {1'000'000, port_mtu(), 100'000});
  netlink.flush();
}

void try_egress_filter() {
  const NetworkNamespace here = enter_with_veth();
  netio::PacketFilter filter(here);
  filter.set("p0", {"numgen random mod 100 < 10 drop"});
}

void try_bpf_switch() {
  const NetworkNamespace here = enter_with_veth();
  const auto program = netio::BpfProgram::load(switchd::usid_switch_object(), "usid_switch");
  program.attach_to_ingress(static_cast<int>(netio::NamespaceNetlink(here).ifindex("p0")));
}

Diagnosis attempt(const std::string& what, const std::function<void()>& trial, Finding otherwise,
                  const std::string& advice) {
  const std::optional<std::string> problem = netio::try_in_child(trial);
  if (!problem) return {what, Finding::kOk, "works", ""};
  return {what, otherwise, *problem, advice};
}

uint64_t free_bytes(const char* path) {
  struct statvfs info {};
  return ::statvfs(path, &info) == 0 ? uint64_t{info.f_bavail} * info.f_frsize : 0;
}

Diagnosis space(const std::string& what, uint64_t have, uint64_t need, const std::string& advice) {
  const std::string detail = fmt::format("{} MB free", have / kMegabyte);
  if (have >= need) return {what, Finding::kOk, detail, ""};
  return {what, Finding::kMissing, fmt::format("{}, {} needed", detail, need / kMegabyte), advice};
}

uint64_t available_memory() {
  std::ifstream in("/proc/meminfo");
  std::string key;
  for (uint64_t kib = 0; in >> key >> kib; in.ignore(64, '\n')) {
    if (key == "MemAvailable:") return kib * 1024;
  }
  return 0;
}

/// Its program must be part of this build, the kernel must take it, and let it stand at a port.
Diagnosis bpf_switches() {
  const std::string what = "kernel: BPF switches";
  const std::string only = "only fabrics with 'forwarding: bpf' need it";
  if (const auto why = netio::why_no_bpf(switchd::usid_switch_object())) {
    return {what, Finding::kLimited, *why, only};
  }
  return attempt(what, try_bpf_switch, Finding::kLimited,
                 only + "; it takes CONFIG_NET_CLS_BPF and CONFIG_NET_SCH_INGRESS");
}

Diagnosis rdma_programs() {
  const std::string what = "RDMA programs";
  if (const auto libraries = rdma_libraries()) {
    return {what, Finding::kOk, libraries->string(), ""};
  }
  return {
      what, Finding::kLimited, "rdma/libibverbs.so.1 is not beside this program",
      "only RDMA programs in hosts need it: apt-get install libibverbs-dev, then ninja mrclab-rdma"};
}

/// As for a program in a host; any folder will do.
void try_device_files() {
  netio::enter_private_namespaces();
  netio::join_class("/run");
}

/// What makes a program's reads of the processor's clock the fabric's: the processor traps them, or verbs/held replaces them.
Diagnosis held_clock() {
  const std::string what = "RDMA: held clock";
  if (netio::tsc_reads_fault())
    return {what, Finding::kOk, "the processor traps reads of the TSC", ""};
  if (kReadsAreReplaced) {
    return {what, Finding::kOk,
            "reads of the TSC are replaced in held programs: the processor does not trap them", ""};
  }
  return {
      what, Finding::kLimited, "the processor does not trap reads of the TSC",
      "a held program that reads the TSC by itself is not exact; it takes an x86-64, and Zydis when mrclab is built"};
}

Diagnosis prom_tool() {
  const std::string what = "drill: promtool";
  if (const auto program = netio::find_program("promtool")) {
    return {what, Finding::kOk, program->string(), ""};
  }
  return {what, Finding::kLimited, "promtool is not there",
          "only 'mrclab drill' needs it: apt-get install prometheus"};
}

/// All of its programs are needed, and which release it is.
Diagnosis open_vswitch() {
  const std::string what = "forwarding: ovs";
  const std::vector<std::string> missing = netio::missing_ovs_programs();
  if (missing.empty()) return {what, Finding::kOk, netio::ovs_version(), ""};
  return {what, Finding::kLimited, fmt::format("{} is not there", fmt::join(missing, ", ")),
          "only fabrics with 'forwarding: ovs' need it: apt-get install openvswitch-switch"};
}

Diagnosis bgp_speaker(SpeakerProgram program) {
  const std::string what = fmt::format("speaker: {}", name_of(program));
  const auto missing = missing_speaker(program);
  if (!missing) return {what, Finding::kOk, speaker_version(program), ""};
  return {
      what, Finding::kLimited, fmt::format("{} is not there", fmt::join(missing->programs, ", ")),
      fmt::format("only fabrics with '{}' need it: apt-get install {}", what, missing->package)};
}

Diagnosis processors() {
  const unsigned count = std::thread::hardware_concurrency();
  const std::string detail = fmt::format("{} usable", count);
  if (count >= 2) return {"processors", Finding::kOk, detail, ""};
  return {"processors", Finding::kLimited, detail, "runs take longer; two or more are better"};
}

}  // namespace

std::vector<Diagnosis> examine_machine() {
  const std::string kernel = "use a kernel that has it (Debian 12 and Ubuntu 24.04 do)";
  const std::string srv6 = "needs Linux 6.1 or later with CONFIG_IPV6_SEG6_LWTUNNEL";
  const std::string only = "only fabrics with 'forwarding: kernel' need it; ";
  const std::string only_faults = "only fabrics with 'forwarding: kernel' or 'ovs' need it; ";
  return {
      attempt("namespaces", netio::enter_private_namespaces, Finding::kMissing,
              "run on a machine or container that may create namespaces (CAP_SYS_ADMIN)"),
      attempt(
          "veth links", [] { enter_with_veth(); }, Finding::kMissing, kernel),
      attempt("packet rings", try_packet_ring, Finding::kMissing, kernel),
      attempt(
          "io_uring", [] { const netio::SendRing ring; }, Finding::kLimited,
          "runs are slower, as each node sends by itself (kernel.io_uring_disabled, or a "
          "container's rules)"),
      attempt(
          "SRv6 encap.red", [] { try_route(netio::EncapRed{other_end()}); }, Finding::kMissing,
          srv6),
      attempt(
          "SRv6 End.DT6", [] { try_route(netio::EndDt6{}); }, Finding::kMissing, srv6),
      attempt(
          "kernel: SRv6 End", [] { try_route(netio::EndNextCsid{}); }, Finding::kLimited,
          only + srv6),
      attempt(
          "kernel: SRv6 End.X", [] { try_route(netio::EndXNextCsid{.next_hop = other_end()}); },
          Finding::kLimited, only + "adjacency uSIDs with next-csid need Linux 6.6 or later"),
      attempt("kernel: rates (tbf)", try_shaper, Finding::kLimited,
              only_faults + "it takes CONFIG_NET_SCH_TBF"),
      attempt(
          "kernel: egress filter", try_egress_filter, Finding::kLimited,
          only_faults + "it takes Linux 5.16 with CONFIG_NFT_NETDEV and CONFIG_NETFILTER_EGRESS"),
      bpf_switches(),
      open_vswitch(),
      prom_tool(),
      rdma_programs(),
      attempt("RDMA: /sys/class", try_device_files, Finding::kLimited,
              "programs that look for the NIC in /sys find none; it takes CONFIG_OVERLAY_FS"),
      held_clock(),
      attempt("RDMA: held addresses", fix_addresses, Finding::kLimited,
              "what a held program prints of its addresses changes from run to run"),
      bgp_speaker(SpeakerProgram::kFrr),
      bgp_speaker(SpeakerProgram::kBird),
      bgp_speaker(SpeakerProgram::kExabgp),
      attempt("real-time scheduling", try_realtime, Finding::kLimited,
              "--realtime is not possible; runs are slower on a busy machine"),
      space("disk here", free_bytes("."), kDiskNeeded, "free some, or use --out elsewhere"),
      space("disk in /run", free_bytes("/run"), 10 * kMegabyte, "free some"),
      space("memory", available_memory(), kMemoryNeeded, "end other programs"),
      processors(),
  };
}

std::string_view doctor_summary(bool all_there, size_t limited) {
  if (!all_there) return "Something that is needed is missing (see above).";
  if (limited > 0) return "This machine can run labs, but for what is limited (see above).";
  return "This machine can run every lab.";
}

int doctor_command(bool as_json) {
  if (::geteuid() != 0) {
    fmt::print(stderr, "mrclab: doctor tries out namespaces and needs root; run with sudo\n");
    return 2;
  }
  nlohmann::json list = nlohmann::json::array();
  bool all_there = true;
  size_t limited = 0;
  for (const Diagnosis& item : examine_machine()) {
    const bool ok = item.finding == Finding::kOk;
    const bool missing = item.finding == Finding::kMissing;
    all_there = all_there && !missing;
    if (item.finding == Finding::kLimited) ++limited;
    const std::string word = ok ? "ok" : missing ? "missing" : "limited";
    list.push_back(
        {{"what", item.what}, {"finding", word}, {"detail", item.detail}, {"advice", item.advice}});
    if (as_json) continue;
    const Colour colour = ok ? Colour::kGreen : missing ? Colour::kRed : Colour::kYellow;
    fmt::print("{} {:24} {}{}{}\n", paint(fmt::format("{:8}", word), colour, stdout), item.what,
               item.detail, item.advice.empty() ? "" : "\n           -> ", item.advice);
  }
  if (as_json) {
    fmt::print("{}\n", printed(list, "doctor"));
  } else {
    fmt::print("{}\n", doctor_summary(all_there, limited));
  }
  return all_there ? 0 : 3;
}

}  // namespace mrclab::lab
