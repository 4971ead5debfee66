// What an RDMA program finds around it: its libraries, addresses and device files, and which program of a command line is
// the one that is held.

#include "lab/rdma/program_surroundings.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "fabric/text/yaml.h"
#include "fabric/topology/fabric_file.h"
#include "lab/rdma/device_files.h"
#include "netio/system/file_descriptor.h"
#include "scenario/spec/shipped_files.h"
#include "tests/netio/temporary_directory.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

std::string value_of(const Environment& list, const std::string& name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const auto& each) { return each.first == name; });
  return found == list.end() ? "absent" : found->second;
}

/// The words as a line for a shell; none of them has a double quote.
std::string line_of(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += '"' + word + "\" ";
  return line;
}

Topology octet() { return read_fabric_file(find_fabric("octet")); }

}  // namespace

TEST_CASE("of a command line the program that is held is the one behind its wrappers") {
  struct Row {
    std::vector<std::string> command;
    const char* program;
  };
  for (const Row& row : {
           Row{{"no_such_program", "-n", "9"}, "no_such_program"},
           Row{{"/no/such/folder/ib_write_bw"}, "ib_write_bw"},
           Row{{"env", "A=1", "no_such_program"}, "no_such_program"},
           Row{{"env", "-u", "HOME", "B=", "no_such_program", "-c"}, "no_such_program"},
           Row{{"timeout", "9", "no_such_program"}, "no_such_program"},
           Row{{"timeout", "-k", "2", "9", "no_such_program", "h0"}, "no_such_program"},
           Row{{"timeout", "--kill-after=2", "9", "no_such_program"}, "no_such_program"},
           Row{{"setarch", "-R", "no_such_program"}, "no_such_program"},
           Row{{"nice", "-n", "5", "stdbuf", "-oL", "no_such_program"}, "no_such_program"},
           Row{{"sh", "-c", "no_such_program -n 9 h0"}, "no_such_program"},
           Row{{"/bin/sh", "-ec", "A=1 exec timeout 3 'no_such_program' > /dev/null"},
               "no_such_program"},
           Row{{"bash", "-c", "no_such_program 2>&1"}, "no_such_program"},
           // More than one program: whichever calls first.
           Row{{"sh", "-c", "no_such_program | tee x"}, ""},
           Row{{"sh", "-c", "sleep 1; no_such_program"}, ""},
           Row{{"sh", "-c", "no_such_program $(cat x)"}, ""},
           Row{{"sh", "-c", "'unclosed"}, ""},
           Row{{"sh", "script.sh"}, ""},
           Row{{"sh"}, ""},
           Row{{"env", "A=1"}, ""},
           Row{{"timeout", "9"}, ""},
           Row{{}, ""},
       }) {
    CAPTURE(row.program);
    CHECK(program_of_line(line_of(row.command)) == row.program);
  }
  CHECK(program_of_line("timeout 9 no_such_program h0") == "no_such_program");
  std::vector<std::string> deep(40, "env");
  deep.push_back("no_such_program");
  CHECK(program_of_line(line_of(deep)) == "");  // bounded
}

TEST_CASE("links are followed as the kernel will: what runs is named, not what was typed") {
  const netio::test::TemporaryDirectory folder;
  netio::write_file(folder / "real_program", "#!/bin/sh\n");
  fs::permissions(folder / "real_program", fs::perms::owner_all);
  fs::create_symlink("real_program", folder / "by_another_name");
  CHECK(program_of_line((folder / "by_another_name").string()) == "real_program");
}

TEST_CASE(
    "a program gets its libraries in front, its addresses, and what holds it only if it is held") {
  const Topology topology = octet();
  const char* const had = std::getenv("LD_LIBRARY_PATH");
  const std::string before = had == nullptr ? "" : had;
  ::setenv("LD_LIBRARY_PATH", "/users", 1);
  Environment list = rdma_environment(topology, {.host = 3}, "/lib/rdma");
  CHECK(value_of(list, "LD_LIBRARY_PATH") == "/lib/rdma:/users");
  ::setenv("LD_LIBRARY_PATH", "/lib/rdma:/users", 1);  // as in a shell of `mrclab shell`
  list = rdma_environment(topology, {.host = 3}, "/lib/rdma");
  CHECK(value_of(list, "LD_LIBRARY_PATH") == "/lib/rdma:/users");
  ::setenv("LD_LIBRARY_PATH", before.c_str(), 1);
  CHECK(value_of(list, "MRCLAB_VERBS") == "/run/mrclab-verbs");
  CHECK(value_of(list, "MRCLAB_MGMT") == "10.255.0.4");
  CHECK(value_of(list, "MRCLAB_MGMT_h7") == "10.255.0.8");
  for (const char* absent : {"LD_PRELOAD", "MRCLAB_PROGRAM", "MRCLAB_VERBS_SEND"}) {
    CHECK(value_of(list, absent) == "absent");
  }
  const RdmaProgram held{
      .host = 0, .held = true, .program = "ib_write_bw", .send_emulated = true, .socket = "/s"};
  const netio::test::TemporaryDirectory folder;
  CHECK_THROWS_AS(rdma_environment(topology, held, folder / ""), InputError);
  netio::write_file(folder / "libmrclab-held.so", "");
  list = rdma_environment(topology, held, folder / "");
  CHECK(value_of(list, "LD_PRELOAD").starts_with((folder / "libmrclab-held.so").string()));
  CHECK(value_of(list, "MRCLAB_PROGRAM") == "ib_write_bw");
  CHECK(value_of(list, "MRCLAB_VERBS_SEND") == "emulated");
  CHECK(value_of(list, "MRCLAB_VERBS") == "/s");
}

TEST_CASE("the device's files name it, its addresses and its rate, and are written once") {
  const Topology topology = octet();
  const netio::test::TemporaryDirectory folder;
  const fs::path files = write_device_files(topology, 5, false, folder / "lab");
  const fs::path device = files / "infiniband" / "mrc0", port = device / "ports" / "1";
  CHECK(netio::read_file(device / "node_guid") == "0200:00ff:fe00:0006\n");
  CHECK(netio::read_file(port / "gids" / "0") == "fd00:0001:0000:0000:0000:0000:0000:0005\n");
  CHECK(netio::read_file(port / "gid_attrs" / "types" / "3") == "RoCE v2\n");
  CHECK(netio::read_file(port / "rate") == "800 Gb/sec\n");
  CHECK(netio::read_file(files / "infiniband_verbs" / "uverbs0" / "ibdev") == "mrc0\n");
  CHECK(fs::is_directory(device / "device"));
  fs::remove(device / "node_desc");
  CHECK(write_device_files(topology, 5, false, folder / "lab") == files);
  CHECK_FALSE(
      fs::exists(device / "node_desc"));  // a mount may have it in use: nothing is written again
  CHECK(fs::exists(write_device_files(topology, 0, true, folder / "lab") / "infiniband" / "roce0"));
  size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder / "lab" / "devices"))
    ++entries;
  CHECK(entries == 2);  // and no half-made folder
}

}  // namespace mrclab::lab
