#include "netio/kernel/namespace.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mount.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "test_lab.h"

using namespace mrclab::netio;
using namespace mrclab::netio::test;
namespace fs = std::filesystem;

TEST_CASE("a name that is no file name is refused before anything is made") {
  for (const char* name : {"", ".", "..", "../etc/passwd", "a/b"})
    CHECK_THROWS_AS(NetworkNamespace::create(name, {}), SystemError);
}

TEST_SUITE("root: namespaces") {
  TEST_CASE("a namespace appears to `ip netns` and vanishes with its object") {
    const std::string name = namespace_name("life");
    {
      const NetworkNamespace ns = NetworkNamespace::create(name, switch_sysctls());
      CHECK(output_of("ip netns list").find(name) != std::string::npos);
      CHECK(list_namespaces(name) == std::vector<std::string>{name});
      CHECK(NetworkNamespace::open(name).inode() == ns.inode());
      CHECK(ns.inode() != NetworkNamespace::current().inode());
    }
    CHECK(list_namespaces(name).empty());
    CHECK(output_of("cat /proc/self/mountinfo").find(name) == std::string::npos);
  }

  TEST_CASE("a namespace that a process left behind stays until it is removed by name") {
    const std::string name = namespace_name("stay");
    output_of("ip netns add " + name);
    CHECK(list_namespaces(name).size() == 1);
    CHECK(remove_namespace(name));
    CHECK_FALSE(remove_namespace(name));
    CHECK(list_namespaces(name).empty());
  }

  TEST_CASE("a half-made namespace, a file without a mount, is removed as well") {
    const std::string name = namespace_name("half");
    const fs::path path = fs::path(kNamespaceDirectory) / name;
    NetworkNamespace::create(namespace_name("other"), {});  // makes the directory
    write_file(path, "");
    CHECK(remove_namespace(name));
    CHECK_FALSE(fs::exists(path));
  }

  TEST_CASE("a namespace keeps the number that it had when its name was recorded") {
    const std::string name = namespace_name("number");
    uint64_t recorded = 0;
    const NetworkNamespace ns = NetworkNamespace::create(name, {}, false, [&](uint64_t cookie) {
      recorded = cookie;
      CHECK(list_namespaces(name).empty());
    });
    CHECK(recorded != 0);
    CHECK(ns.cookie() == recorded);
    CHECK(cookie_of_name(name) == recorded);
    CHECK_FALSE(cookie_of_name(namespace_name("none")));
    const NetworkNamespace other = NetworkNamespace::create(namespace_name("other"), {});
    CHECK(other.cookie() != recorded);
  }

  TEST_CASE("a name that somebody gave to a namespace of theirs is left to them") {
    const std::string name = namespace_name("taken");
    {
      const NetworkNamespace ns = NetworkNamespace::create(name, {});
      CHECK(output_of("ip netns del " + name + " && ip netns add " + name) == "");
    }
    CHECK(list_namespaces(name).size() == 1);
    CHECK(remove_namespace(name));
  }

  TEST_CASE("creating an existing namespace is EEXIST and leaves the first one alone") {
    TestLab lab;
    const ino_t before = lab.add("twice").inode();
    try {
      NetworkNamespace::create(namespace_name("twice"), {});
      FAIL("was created twice");
    } catch (const SystemError& error) {
      CHECK(error.error_number() == EEXIST);
    }
    CHECK(NetworkNamespace::open(namespace_name("twice")).inode() == before);
  }

  TEST_CASE("a refused sysctl leaves no namespace, and the process at home") {
    const ino_t home = NetworkNamespace::current().inode();
    const std::string name = namespace_name("bad");
    try {
      NetworkNamespace::create(name, {{"net/ipv6/conf/default/no_such_thing", "1"}});
      FAIL("was created");
    } catch (const SystemError& error) {
      CHECK(std::string(error.what()).find("no_such_thing") != std::string::npos);
    }
    CHECK(list_namespaces(name).empty());
    CHECK(NetworkNamespace::current().inode() == home);
  }

  TEST_CASE("sysctls hold in the namespace and not outside it") {
    const std::string path = "/proc/sys/net/ipv6/conf/default/disable_ipv6";
    const std::string outside = read_file(path);
    TestLab lab;
    CHECK(lab.add("quiet").run_in([&] { return read_file(path); }) == "1\n");
    CHECK(lab.add("host", host_sysctls()).run_in([&] { return read_file(path); }) == "0\n");
    CHECK(lab.add("router", forwarding_sysctls()).run_in([] {
      return read_file("/proc/sys/net/ipv6/conf/all/forwarding");
    }) == "1\n");
    CHECK(read_file(path) == outside);
  }

  TEST_CASE("run_in comes back, also when what it runs throws") {
    const ino_t home = NetworkNamespace::current().inode();
    TestLab lab;
    const NetworkNamespace& ns = lab.add("visit");
    CHECK(ns.run_in([] { return NetworkNamespace::current().inode(); }) == ns.inode());
    CHECK(NetworkNamespace::current().inode() == home);
    CHECK_THROWS_AS(ns.run_in([] { throw std::runtime_error("inside"); }), std::runtime_error);
    CHECK(NetworkNamespace::current().inode() == home);
  }

  TEST_CASE("the last descriptor ends the namespace and its links") {
    TestLab lab;
    lab.add("outer");
    {
      TestLab inner;
      inner.add("inner");
      const VethPair pair{{&lab.at("outer"), "x0", {2, 0, 0, 0, 0, 1}, ""},
                          {&inner.at("inner"), "x1", {2, 0, 0, 0, 0, 2}, ""}};
      create_veths({&pair, 1});
      CHECK(NamespaceNetlink(lab.at("outer")).links().size() == 2);
    }
    // The kernel cleans up on its own time, in a work queue: wait for its message.
    LinkWatch watch(lab.at("outer"));
    NamespaceNetlink netlink(lab.at("outer"));
    for (int i = 0; i < 50 && netlink.links().size() > 1; ++i) {
      pollfd watched{watch.fd(), POLLIN, 0};
      ::poll(&watched, 1, 100);
      watch.read();
    }
    CHECK(netlink.links().size() == 1);
  }
}
