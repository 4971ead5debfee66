// Files of launchers that say which host each rank is on.

#include "job/import/host_file.h"

#include <doctest/doctest.h>

#include "tests/support/errors.h"

using namespace mrclab;
using namespace mrclab::job;

namespace {

/// "a a b": the hosts by rank.
std::string hosts_in(const std::string& text, HostFileFormat format) {
  std::string hosts;
  for (const PlacedRank& rank : read_host_file(text, format, "hosts.txt")) {
    hosts += (hosts.empty() ? "" : " ") + rank.host;
  }
  return hosts;
}

}  // namespace

TEST_CASE("ranks fill the slots of a hostfile, and of one host those of all its lines") {
  constexpr auto kFormat = HostFileFormat::kHostfile;
  CHECK(hosts_in("# mine\nb slots=2 # two\n\na\nroot@c slots=1 max_slots=4\n", kFormat) ==
        "b b a c");
  CHECK(hosts_in("a\nb\na\n", kFormat) == "a a b");
  CHECK(hosts_in("a max-slots=1\r\n", kFormat) == "a");
  CHECK(read_host_file("x\n\ny slots=2\n", kFormat, "f").back() == PlacedRank{"y", 3});
}

TEST_CASE("a rankfile may name its ranks in any order, each once") {
  constexpr auto kFormat = HostFileFormat::kRankfile;
  CHECK(hosts_in("rank 2=c slot=0\nrank 0=a slot=1:0-3\nrank 1=a slot=2\n", kFormat) == "a a c");
}

TEST_CASE(
    "a hostlist of Slurm has brackets, ranges and zeros, and the last bracket counts fastest") {
  constexpr auto kFormat = HostFileFormat::kSlurm;
  CHECK(hosts_in("n[1-3,07-09],gpu-a[0-1]x[2]\n", kFormat) ==
        "n1 n2 n3 n07 n08 n09 gpu-a0x2 gpu-a1x2");
  CHECK(hosts_in("r[1-2]n[098-101]", kFormat) ==
        "r1n098 r1n099 r1n100 r1n101 r2n098 r2n099 r2n100 r2n101");
  CHECK(hosts_in("b\na\nb\n", kFormat) == "b a b");  // SLURM_HOSTFILE: a line a task
  CHECK(hosts_in("SLURM_NTASKS=7\nSLURM_TASKS_PER_NODE='2(x3),1'\n"
                 "export SLURM_JOB_NODELIST=\"n[0-3]\"\nSLURM_NODELIST=n[0-3]\n",
                 kFormat) == "n0 n0 n1 n1 n2 n2 n3");
}

TEST_CASE("a file of hosts that cannot be read is refused by its line, and not shown") {
  struct Row {
    HostFileFormat format;
    const char* text;
    const char* error;
  };
  using enum HostFileFormat;
  for (const Row& row : std::vector<Row>{
           {kHostfile, "", "hosts.txt: no ranks"},
           {kHostfile, "a slots=0\n", "hosts.txt:1: expected 1 to 1024 slots"},
           {kHostfile, "a\nb sl=2\n", "hosts.txt:2: expected \"HOST slots=N max_slots=N\""},
           {kHostfile, "a slots=3 max_slots=2", "no more slots than max_slots"},
           {kHostfile, "a slots=1024\nb\n", "hosts.txt:2: more than 1024 ranks"},
           {kHostfile, "root:x:0:0:secret\n", "hosts.txt:1: expected a host's name"},
           {kRankfile, "rank 0=a\n", "expected \"rank R=HOST slot=S\""},
           {kRankfile, "rank 0=a slot=0\nrank 2=b slot=0\n", "hosts.txt: no rank 1"},
           {kRankfile, "rank 0=a slot=0\nrank 0=b slot=0\n", "rank 0 again: line 1 has it"},
           {kRankfile, "rank 1024=a slot=0\n", "a rank below 1024"},
           {kRankfile, "rank 0=+n1 slot=0\n", "the order that +n0 counts in"},
           {kSlurm, "n[1-3\n", "hosts.txt:1: expected a ] behind each ["},
           {kSlurm, "n1]\n", "a [ before each ]"},
           {kSlurm, "n[[1]]\n", "no bracket within brackets"},
           {kSlurm, "n[3-1]\n", "numbers or ranges in brackets"},
           {kSlurm, "n[a]\n", "numbers or ranges in brackets"},
           {kSlurm, "n[0-999999999]\n", "more than 1024 hosts"},
           {kSlurm, "a,,b\n", "expected a host's name"},
           {kSlurm, "[1][1][1][1][1][1][1][1][1]\n", "more than 8 brackets"},
           {kSlurm, "SLURM_JOB_NODELIST=a,b\nSLURM_TASKS_PER_NODE=2(x3)\n",
            "hosts.txt:2: tasks of 3 hosts: the hostlist has 2"},
           {kSlurm, "SLURM_JOB_NODELIST=a\nSLURM_NODELIST=b\n", "the hosts of the other variable"},
           {kSlurm, "SLURM_TASKS_PER_NODE=2(y3)\n", "counts such as 2(x3),1"},
           {kSlurm, "PATH=/secret\n", "expected SLURM_JOB_NODELIST=..."},
           {kSlurm, "a\nSLURM_JOB_NODELIST=b\n", "either hostlists or variables"},
           {kSlurm, "SLURM_JOB_NODELIST=b\na\n", "either hostlists or variables"}}) {
    CAPTURE(row.text);
    const std::string error = test::error_of([&] { hosts_in(row.text, row.format); });
    CAPTURE(error);
    CHECK(error.find(row.error) != std::string::npos);
    CHECK(error.find("secret") == std::string::npos);
  }
}
