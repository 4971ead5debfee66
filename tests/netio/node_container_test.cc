#include "netio/kernel/node_container.h"

#include <doctest/doctest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "netio/system/file_descriptor.h"
#include "temporary_directory.h"
#include "test_lab.h"

using namespace mrclab::netio;
using namespace mrclab::netio::test;
namespace fs = std::filesystem;

namespace {

/// A namespace with one interface, and the files of a node in a temporary directory.
struct TestNode {
  TestNode() {
    lab.add("h0"), lab.add("sw");
    lab.link("h0", "p0", "sw", "d0");
    fs::create_directories(directory / "run");
    write_file(directory / "hosts", "fd00::7 h7 lucky\n");
    node = {"h0", directory / "run", directory / "hosts"};
  }
  /// Runs a shell line in the node; what it prints goes to a file.
  int run(const std::string& line) {
    return exec_in_node(node, lab.at("h0"),
                        {"/bin/sh", "-c", "(" + line + ") > " + (directory / "out").string()});
  }
  std::string output() { return read_file(directory / "out"); }

  TestLab lab;
  TemporaryDirectory temporary;
  fs::path directory = temporary / "node";
  NodeContainer node;
};

std::set<std::string> own_mounts() {
  std::istringstream in(read_file("/proc/self/mountinfo"));
  std::set<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.insert(line);
  return lines;
}

/// Mounts of other people that this namespace has copies of may go meanwhile, none of them can come.
std::string added_to(const std::set<std::string>& before, const std::set<std::string>& after) {
  std::string text;
  for (const std::string& line : after) text += before.contains(line) ? "" : line + "\n";
  return text;
}

}  // namespace

TEST_SUITE("root: node containers") {
  TEST_CASE("a command in a node sees the node's hostname, interfaces and hosts") {
    TestNode node;
    const std::string outside = output_of("hostname");
    CHECK(node.run("uname -n; ls /sys/class/net; cat /etc/hosts; getent hosts lucky") == 0);
    CHECK(node.output() == "h0\nlo\np0\nfd00::7 h7 lucky\nfd00::7         h7 lucky\n");
    CHECK(output_of("hostname") == outside);
  }

  TEST_CASE("a node's /run is its own, lasts between commands and is not the machine's") {
    TestNode node;
    CHECK(node.run("echo kept > /run/note; ls /run") == 0);
    CHECK(node.output() == "note\n");
    CHECK(node.run("cat /run/note") == 0);
    CHECK(node.output() == "kept\n");
    CHECK_FALSE(fs::remove("/run/note"));
  }

  TEST_CASE("what is joined to /sys/class is seen beside the kernel's own, where it can be") {
    TestNode node;
    const auto before = own_mounts();
    fs::create_directories(node.directory / "class" / "infiniband" / "x0");
    node.node.class_directory = node.directory / "class";
    CHECK(node.run("ls /sys/class/infiniband /sys/class/net") == 0);
    CHECK(node.output() == "/sys/class/infiniband:\nx0\n\n/sys/class/net:\nlo\np0\n");
    CHECK(node.run("mkdir /sys/class/infiniband/x1") != 0);
    node.node.class_directory = "/no/such/folder";
    CHECK(node.run("ls /sys/class/net") == 0);
    CHECK(node.output() == "lo\np0\n");
    CHECK(added_to(before, own_mounts()) == "");
  }

  TEST_CASE("nothing is left mounted when the command ends") {
    TestNode node;
    const auto before = own_mounts();
    CHECK(node.run("true") == 0);
    CHECK(added_to(before, own_mounts()) == "");
    CHECK(output_of("ip netns pids " + node.lab.at("h0").name()).empty());
  }

  TEST_CASE("on a machine that shares its mounts, as systemd does, nothing gets out either") {
    TestNode node;
    const pid_t child = ::fork();
    if (child == 0) {
      // A mount namespace of its own stands for the machine.
      int result = 1;
      if (::unshare(CLONE_NEWNS) == 0 && ::mount("", "/", "none", MS_PRIVATE | MS_REC, "") == 0 &&
          ::mount("", "/", "none", MS_SHARED | MS_REC, "") == 0) {
        const auto before = own_mounts();
        result = node.run("true") == 0 && added_to(before, own_mounts()).empty() ? 0 : 2;
      }
      ::_exit(result);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 0);
  }

  TEST_CASE("a namespace can be removed while a command runs in another node's mounts") {
    TestNode node;
    TestLab other;
    other.add("other");
    CHECK(node.run("umount -l /run && ip netns list | grep -c t" + std::to_string(::getpid()) +
                   "-other") == 0);
    CHECK(node.output() == "1\n");
  }

  TEST_CASE("exit codes come back: the command's own, 127, 126 and 128 + signal") {
    TestNode node;
    CHECK(node.run("exit 42") == 42);
    CHECK(exec_in_node(node.node, node.lab.at("h0"), {"/no/such/command"}) == 127);
    CHECK(exec_in_node(node.node, node.lab.at("h0"), {"/etc"}) == 126);
    CHECK(exec_in_node(node.node, node.lab.at("h0"), {"/bin/sh", "-c", "kill -TERM $$"}) ==
          128 + SIGTERM);
  }

  TEST_CASE("a node that cannot be entered is an error that names what is missing") {
    TestNode node;
    node.node.hosts_file = node.directory / "no-such-file";
    try {
      exec_in_node(node.node, node.lab.at("h0"), {"/bin/true"});
      FAIL("was entered");
    } catch (const SystemError& error) {
      CHECK(error.error_number() == ENOENT);
      CHECK(error.attempted().find("no-such-file") != std::string::npos);
    }
  }
}
