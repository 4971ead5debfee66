#include "endpoint/workload/workload_spec.h"

#include <doctest/doctest.h>

#include "endpoint/workload/collective_layout.h"
#include "endpoint/workload/workload_entry.h"
#include "tests/support/errors.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::endpoint;

namespace {

WorkloadSpec workload_in(const std::string& text) {
  static const Topology kOctet = test::octet();
  NameResolver names(kOctet, 1);
  return parse_workloads(read_yaml_text("- " + text + "\n", "f.yaml"), names).at(0);
}

std::string workload_error(const std::string& text) {
  return test::error_of([&] { workload_in(text); });
}

using Hosts = std::vector<uint32_t>;

}  // namespace

TEST_CASE("an all-reduce is read with its ranks, its size and how often") {
  const WorkloadSpec endless = workload_in("all_reduce: {hosts: all, size: 8MiB, until: end}");
  CHECK(std::get<CollectiveSpec>(endless) ==
        CollectiveSpec{{0, 1, 2, 3, 4, 5, 6, 7}, Bytes{8u << 20}, 0});
  const WorkloadSpec thrice =
      workload_in("all_reduce: {hosts: \"h[1-3]\", size: 4kB, iterations: 3}");
  CHECK(std::get<CollectiveSpec>(thrice) == CollectiveSpec{{1, 2, 3}, Bytes{4000}, 3});
  CHECK(describe(endless) == "all_reduce of 8MiB over 8 hosts, until the end");
  CHECK(describe(thrice) == "all_reduce of 4000B over 3 hosts, 3 times");
}

TEST_CASE("a permutation and a write are read with their defaults") {
  CHECK(std::get<PermutationSpec>(
            workload_in("permutation: {hosts: all, load: 90%, message: 256KiB}")) ==
        PermutationSpec{{0, 1, 2, 3, 4, 5, 6, 7}, Probability{900'000'000}, Bytes{256u << 10}, 1});
  CHECK(std::get<PermutationSpec>(
            workload_in("permutation: {hosts: [h0, h4], load: 0.5, message: 1B, shift: 1}"))
            .hosts == Hosts{0, 4});
  CHECK(std::get<WriteSpec>(workload_in("write: {from: h1, to: h5, size: 1MiB}")) ==
        WriteSpec{1, 5, Bytes{1u << 20}, 1});
}

TEST_CASE("every key of every kind of workload is written as it was read") {
  const std::string start = "qps: 2, at: 5us, routing: ecmp, transport: roce}";
  std::vector<std::string> bodies(
      5, "{hosts: [h0, h1], size: 8B, slots: nccl, iterations: 3, " + start);
  bodies.push_back("{hosts: [h0, h1, h2], load: 9%, message: 8B, shift: 2, " + start);
  bodies.push_back(
      "{from: h0, to: h1, size: 8B, rate: 2Gb/s, arrivals: poisson, count: 3, depth: 4, " + start);
  bodies.push_back("{from: [h1], to: h0, victim: {from: h2, to: h3}, load: 9%, message: 8B, " +
                   start);
  bodies.push_back("{from: h0, to: h1, size: 8B, count: 3, " + start.substr(start.find("at:")));
  // Whose own keys are tested in tests/job/plan and tests/job/serve.
  REQUIRE(bodies.size() + 2 == workload_kinds().size());
  REQUIRE(workload_kinds()[bodies.size()].name == "job");
  REQUIRE(workload_kinds().back().name == "serve");
  const std::string job = to_yaml(
      workload_in("job: {name: a, hosts: [h1, h0], phases: [{c: {compute: 1us}}], " + start));
  CHECK(job.ends_with(start));
  CHECK(to_yaml(workload_in(job)) == job);
  for (size_t i = 0; i < bodies.size(); ++i) {
    const ValueForm::Key& kind = workload_kinds()[i];
    const std::string text = kind.name + ": " + bodies[i];
    CHECK(to_yaml(workload_in(text)) == text);
    for (const ValueForm::Key& key : kind.form.keys) {
      if (key.name == "until") continue;  // in place of a number
      CAPTURE(kind.name);
      CAPTURE(key.name);
      CHECK(text.find(key.name + ": ") != std::string::npos);
    }
  }
  CHECK(to_yaml(workload_in("write: {from: h0, to: h1, size: 8B, until: end}")) ==
        "write: {from: h0, to: h1, size: 8B, until: end}");
}

TEST_CASE("an incast's receiver is drawn before its senders") {
  const auto spec = std::get<IncastSpec>(workload_in(
      "incast: {from: \"random(2, h[0-3])\", to: \"random(1, h[4-7])\", load: 1%, message: 1B}"));
  static const Topology kOctet = test::octet();
  NameResolver names(kOctet, 1);
  CHECK(spec.to == kOctet.node(names.hosts("random(1, h[4-7])").front()).index);
}

TEST_CASE("the chunks of a ring cover the vector without gap, and differ by at most one element") {
  for (const uint64_t size : {32u, 36u, 4000u, 1u << 20}) {
    for (const size_t hosts : {2u, 3u, 7u, 8u}) {
      uint64_t covered = 0;
      for (size_t i = 0; i < hosts; ++i) {
        const ReduceChunk chunk = reduce_chunk(Bytes{size}, hosts, i);
        CHECK(chunk.offset == covered);
        CHECK(chunk.length % kReduceElementBytes == 0);
        CHECK(chunk.length / 4 >= size / 4 / hosts);
        CHECK(chunk.length / 4 <= size / 4 / hosts + 1);
        covered += chunk.length;
      }
      CHECK(covered == size);
    }
  }
}

TEST_CASE("a workload written as text reads back as the same workload") {
  for (const char* text :
       {"all_reduce: {hosts: all, size: 8MiB, until: end}",
        "all_reduce: {hosts: \"random(3, h*)\", size: 1000B, iterations: 2}",
        "all_reduce: {hosts: all, size: 64GiB, slots: nccl, iterations: 2}",
        "all_to_all: {hosts: all, size: 8MiB, slots: {buffer: 256KiB, steps: 16, "
        "channels: 3}, iterations: 2}",
        "permutation: {hosts: all, load: 12.5%, message: 256KiB, shift: 4}",
        "write: {from: h0, to: h7, size: 3B, count: 9}",
        "write: {from: h0, to: h7, size: 3B, until: end, qps: 4, depth: 128}",
        "all_gather: {hosts: all, size: 8KiB, until: end, qps: 2, at: 5us}",
        "reduce_scatter: {hosts: all, size: 4B, iterations: 1}",
        "all_to_all: {hosts: [h0, h3], size: 4B, iterations: 1}",
        "sendrecv: {hosts: all, size: 1MiB, iterations: 1}",
        "incast: {from: \"h[1-7]\", to: h0, load: 100%, message: 64KiB}",
        "incast: {from: [h1], to: h0, victim: {from: h1, to: h2}, load: 1%, "
        "message: 1B, qps: 3, at: 1ms}",
        "ping_pong: {from: h0, to: h4, size: 2B, until: end}",
        "ping_pong: {from: h0, to: h4, size: 2B, count: 7, at: 1us}"}) {
    const WorkloadSpec spec = workload_in(text);
    CHECK(workload_in(to_yaml(spec)) == spec);
  }
}

TEST_CASE("of more than a thousand hosts a written workload has runs, in their order") {
  PermutationSpec spec;
  for (uint32_t host = 0; host < 1200; ++host) spec.hosts.push_back(host == 600 ? 5000 : host);
  spec.load = {500'000'000};
  spec.message = {4096};
  const std::string runs = "hosts: [\"h[0-599]\", h5000, \"h[601-1199]\"]";
  CHECK(to_yaml(WorkloadSpec(spec)).find(runs) != std::string::npos);
  spec.hosts.resize(3);
  CHECK(to_yaml(WorkloadSpec(spec)).find("hosts: [h0, h1, h2]") != std::string::npos);
}

TEST_CASE("bad workloads get an exact error") {
  struct Row {
    const char* text;
    const char* expected;
  };
  for (const Row& row : {
           Row{"all_reduce: {hosts: all, size: 8MiB}",
               "f.yaml:1:15: found no \"until\": expected \"until: end\" or \"iterations: ...\""},
           Row{"all_reduce: {hosts: all, size: 8MiB, until: end, iterations: 2}",
               "f.yaml:1:52: found \"until\" and \"iterations\": expected one of them"},
           Row{"all_reduce: {hosts: all, size: 8MiB, until: 5us}",
               "f.yaml:1:47: found \"5us\": expected end"},
           Row{"all_reduce: {hosts: all, size: 8, until: end}",
               "f.yaml:1:34: found \"8\": expected a size such as 8MiB (B, kB, MB, GB, KiB, MiB, "
               "GiB)"},
           Row{"all_reduce: {hosts: all, size: 27B, until: end}",
               "f.yaml:1:34: found \"27B\": expected a multiple of 4B: 32-bit elements"},
           Row{"all_reduce: {hosts: all, size: 1GiB, until: end}",
               "f.yaml:1:34: found \"1GiB\": expected at most 256MiB, or \"slots\", which need no "
               "vectors in memory"},
           Row{"all_reduce: {hosts: h1, size: 8MiB, until: end}",
               "f.yaml:1:23: found \"h1\": expected at least two hosts"},
           Row{"all_reduce: {hosts: \"h9*\", size: 8MiB, until: end}",
               "f.yaml:1:23: found \"h9*\", which names no host: expected a name such as \"h0\""},
           Row{"all_reduce: {host: all, size: 8MiB, until: end}",
               "f.yaml:1:16: found the key \"host\": expected \"hosts\""},
           Row{"allreduce: {hosts: all}",
               "f.yaml:1:3: found the workload \"allreduce\": expected \"all_reduce\""},
           Row{"all_reduce",
               "f.yaml:1:3: found \"all_reduce\": expected a workload such as \"all_reduce: "
               "{...}\""},
           Row{"permutation: {hosts: all, load: 0%, message: 1KiB}",
               "f.yaml:1:35: found \"0%\": expected a load above 0%"},
           Row{"permutation: {hosts: all, load: 150%, message: 1KiB}",
               "f.yaml:1:35: found \"150%\": expected a share such as 20% or 0.2, from 0% to 100%"},
           Row{"permutation: {hosts: all, load: 9%, message: 1KiB, shift: 8}",
               "f.yaml:1:61: found \"8\": expected a whole number from 1 to 7"},
           Row{"write: {from: h0, to: h0, size: 1B}",
               "f.yaml:1:25: found \"h0\": expected a host other than the sender"},
           Row{"ping_pong: {from: all, to: h0, size: 1B}",
               "f.yaml:1:21: found \"all\": expected one host"},
           Row{"write: {from: h0, to: h1, size: 1B, count: 3, qps: 4}",
               "f.yaml:1:46: found \"3\": expected at least one write for each of 4 queue pairs"},
           Row{"write: {from: h0, to: h1, size: 1B, count: 3, until: end}",
               "f.yaml:1:39: found \"until\" and \"count\": expected one of them"},
           Row{"sendrecv: {hosts: all, size: 4B, until: end, qps: 65}",
               "f.yaml:1:53: found \"65\": expected a whole number from 1 to 64"},
           Row{"incast: {from: all, to: h0, load: 1%, message: 1B}",
               "f.yaml:1:18: found \"all\": expected hosts other than the receiver"},
           Row{"incast: {from: h1, to: h0, victim: {from: h2, to: h0}, load: 1%, message: 1B}",
               "f.yaml:1:53: found \"h0\": expected a host other than the incast's receiver"},
           Row{"write: {from: h0, to: h1, size: 0B}",
               "f.yaml:1:35: found \"0B\": expected a size from 1B to 256MiB"},
       }) {
    CHECK(workload_error(row.text) == row.expected);
  }
}

TEST_CASE("slots are NCCL's unless they are changed, and let a collective be larger than memory") {
  const auto slots_in = [](const std::string& slots) {
    return std::get<CollectiveSpec>(workload_in("all_reduce: {hosts: all, size: 1GiB, slots: " +
                                                slots + ", iterations: 1}"))
        .slots;
  };
  CHECK(slots_in("nccl") == SlotSpec{Bytes{4u << 20}, 8, 1});
  CHECK(slots_in("{channels: 8, buffer: 1MiB}") == SlotSpec{Bytes{1u << 20}, 8, 8});
  CHECK(describe(workload_in("all_reduce: {hosts: all, size: 1GiB, slots: nccl, iterations: 1}")) ==
        "all_reduce of 1GiB over 8 hosts in slots of 1 x 4MiB, 1 times");
  const auto refused = [](const std::string& slots) {
    return workload_error("all_reduce: {hosts: all, size: 1GiB, iterations: 1" + slots + "}");
  };
  CHECK(refused("").find("found \"1GiB\": expected at most 256MiB, or \"slots\"") !=
        std::string::npos);
  CHECK(refused(", slots: mpi").find("found \"mpi\": expected nccl") != std::string::npos);
  CHECK(refused(", slots: {steps: 6}").find("expected a multiple of 4") != std::string::npos);
  CHECK(refused(", slots: {buffer: 33KiB}").find("expected a multiple of 32KiB") !=
        std::string::npos);
  CHECK(refused(", slots: {channels: 33}").find("from 1 to 32") != std::string::npos);
}
