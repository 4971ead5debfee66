// The library is taken for the system's: by its symbols, their versions and kinds, and by what needs no device.

#include <dlfcn.h>
#include <glob.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "tests/verbs/client/program.h"

namespace mrclab::verbs::client_test {
namespace {

std::string system_library() {
  std::string found;
  glob_t files{};
  for (const char* pattern : {"/usr/lib/*/libibverbs.so.1", "/usr/lib64/libibverbs.so.1"}) {
    if (found.empty() && glob(pattern, 0, nullptr, &files) == 0) {
      found = files.gl_pathv[0];
      globfree(&files);
    }
  }
  return found;
}

/// "T ibv_open_device@@IBVERBS_1.1" and so on, without what is undefined or weak.
std::set<std::string> symbols_of(const std::string& library) {
  std::set<std::string> symbols;
  FILE* lines = popen(("nm -D --defined-only " + library).c_str(), "r");
  REQUIRE(lines != nullptr);
  char line[512];
  while (std::fgets(line, sizeof(line), lines) != nullptr) {
    char kind[8];
    char name[256];
    if (std::sscanf(line, "%*s %7s %255s", kind, name) == 2 &&
        std::string("TBDA").find(kind[0]) != std::string::npos) {
      symbols.insert(std::string(kind) + " " + name);
    }
  }
  pclose(lines);
  return symbols;
}

}  // namespace

TEST_CASE("libibverbs.so.1 has the system's symbols in their versions, and one of its own") {
  const std::string system = system_library();
  REQUIRE(system != "");  // libibverbs-dev depends on it
  std::set<std::string> expected = symbols_of(system);
  CHECK(expected.size() >= 193);  // rdma-core 44; a later one adds to it
  expected.insert("A MRCLAB_1");
  expected.insert("T mrclab_verbs_client@@MRCLAB_1");
  const std::set<std::string> ours = symbols_of(library_path());
  const bool same_release =
      expected.contains("A IBVERBS_PRIVATE_34") && !expected.contains("A IBVERBS_1.15");
  for (const std::string& symbol : ours) {
    CAPTURE(symbol);
    CHECK((expected.contains(symbol) || !same_release));
  }
  for (const std::string& symbol : expected) {
    CAPTURE(symbol);
    CHECK((ours.contains(symbol) || !same_release));
  }
  CHECK(ours.size() == 195);
}

TEST_CASE("names and rates are those of the system's library") {
  void* ours = dlopen(library_path().c_str(), RTLD_NOW | RTLD_LOCAL);
  void* system = dlopen(system_library().c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(ours != nullptr);
  REQUIRE(system != nullptr);
  REQUIRE(dlsym(ours, "ibv_wc_status_str") != dlsym(system, "ibv_wc_status_str"));
  for (const char* name :
       {"ibv_wc_status_str", "ibv_event_type_str", "ibv_node_type_str", "ibv_port_state_str"}) {
    using Names = const char* (*)(int);
    for (int value = -2; value < 24; ++value) {
      CAPTURE(name);
      CAPTURE(value);
      CHECK(std::string(reinterpret_cast<Names>(dlsym(ours, name))(value)) ==
            reinterpret_cast<Names>(dlsym(system, name))(value));
    }
  }
  for (const char* name :
       {"ibv_rate_to_mult", "mult_to_ibv_rate", "ibv_rate_to_mbps", "mbps_to_ibv_rate"}) {
    using Rates = int (*)(int);
    for (const int value :
         {-1,  0,     1,      2,      3,      4,       5,       6,       7,
          8,   9,     10,     11,     12,     13,      16,      17,      18,
          20,  21,    22,     23,     24,     25,      160,     240,     320,
          480, 2'500, 10'000, 25'781, 53'125, 103'125, 425'000, 850'000, 1'275'000}) {
      CAPTURE(name);
      CAPTURE(value);
      CHECK(reinterpret_cast<Rates>(dlsym(ours, name))(value) ==
            reinterpret_cast<Rates>(dlsym(system, name))(value));
    }
  }
  dlclose(system);
}

TEST_CASE("a machine that is no host of a lab has no device") {
  const std::string told = run_program({}, [](const Verbs& verbs) {
    setenv(kSocketVariable, "/nonexistent/door", 1);
    int count = 7;
    ibv_device** list = verbs.get_device_list(&count);
    expect(list != nullptr && count == 0 && list[0] == nullptr, "an empty list");
    verbs.free_device_list(list);
  });
  CHECK(told == "");
}

}  // namespace mrclab::verbs::client_test
