// RFC 7606 as a table: a wrong UPDATE, and what becomes of its routes and of the session.

#include <doctest/doctest.h>

#include "routing/bgp/update.h"
#include "tests/support/bytes.h"

using namespace mrclab;
using namespace mrclab::routing;
using mrclab::test::from_hex;

namespace {

const std::string kOrigin = "40010100", kPath = "40020602010000fde9",
                  kReach =
                      "800e1a"
                      "00020110"
                      "20010db8000000000000000000000001"
                      "00"
                      "2020010db8",
                  kUnreach =
                      "800f08"
                      "000201"
                      "2020010db8";

enum class Fate { kTaken, kWithdrawn, kReset };

struct Row {
  std::string about;
  std::string attributes;
  Fate fate;
  int subcode = 0;  // of a reset
  int faults = 0;   // else
};

Octets update_body(const Octets& attributes) {
  Octets body;
  OctetWriter(body).u16(0).u16(static_cast<unsigned>(attributes.size())).bytes(attributes);
  return body;
}

void check_fate(const Row& row) {
  CAPTURE(row.about);
  const auto decoded =
      decode_update(update_body(from_hex(row.attributes)), {true, AsNumber{65001}});
  const auto* answer = std::get_if<Notification>(&decoded);
  CHECK((answer != nullptr) == (row.fate == Fate::kReset));
  if (answer != nullptr) {
    CHECK(answer->code == ErrorCode::kUpdate);
    CHECK(int{answer->subcode} == row.subcode);
    return;
  }
  const auto& update = std::get<Update>(decoded);
  CHECK(update.announced.size() == (row.fate == Fate::kTaken ? 1 : 0));
  CHECK(update.withdrawn.size() == (row.fate == Fate::kWithdrawn ? 1 : 0));
  CHECK((update.attributes != nullptr) == (row.fate == Fate::kTaken));
  CHECK(update.faults.size() == static_cast<size_t>(row.faults));
}

}  // namespace

TEST_CASE("a right UPDATE is taken, in any order of attributes") {
  check_fate({"as we send it", kReach + kOrigin + kPath, Fate::kTaken});
  check_fate({"MP_REACH last, as GoBGP sends it", kOrigin + kPath + kReach, Fate::kTaken});
  check_fate({"a withdrawal", kUnreach, Fate::kWithdrawn});
  check_fate({"next hop of 32 octets",
              "800e2a"
              "00020120"
              "20010db8000000000000000000000001"
              "fe800000000000000000000000000001"
              "00"
              "2020010db8" +
                  kOrigin + kPath,
              Fate::kTaken});
  check_fate({"a host part that is not 0",
              "800e1a"
              "00020110"
              "20010db8000000000000000000000001"
              "00"
              "1c20010db8" +
                  kOrigin + kPath,
              Fate::kTaken});
  check_fate({"an unknown optional attribute", kReach + kOrigin + kPath + "c0630101" + "80640101",
              Fate::kTaken});
}

TEST_CASE("wrong attributes withdraw the routes and leave the session") {
  const std::string all = kReach + kOrigin + kPath;
  for (const Row& row : {
           Row{"ORIGIN 3", kReach + "40010103" + kPath, Fate::kWithdrawn, 0, 1},
           Row{"ORIGIN of 2 octets", kReach + "4001020000" + kPath, Fate::kWithdrawn, 0, 1},
           Row{"ORIGIN optional", kReach + "c0010100" + kPath, Fate::kWithdrawn, 0, 1},
           Row{"no ORIGIN", kReach + kPath, Fate::kWithdrawn, 0, 1},
           Row{"no AS_PATH", kReach + kOrigin, Fate::kWithdrawn, 0, 1},
           Row{"AS_PATH with a segment of type 7", kReach + kOrigin + "40020607010000fde9",
               Fate::kWithdrawn, 0, 1},
           Row{"AS_PATH with an empty segment", kReach + kOrigin + "40020802010000fde90200",
               Fate::kWithdrawn, 0, 1},
           Row{"AS_PATH cut short", kReach + kOrigin + "40020602020000fde9", Fate::kWithdrawn, 0,
               1},
           Row{"AS_PATH with AS 0", kReach + kOrigin + "40020a02020000fde900000000",
               Fate::kWithdrawn, 0, 1},
           Row{"AS_PATH that begins with another", kReach + kOrigin + "40020602010000fdea",
               Fate::kWithdrawn, 0, 1},
           Row{"AS_PATH empty", kReach + kOrigin + "400200", Fate::kWithdrawn, 0, 1},
           Row{"MED of 3 octets", all + "800403000001", Fate::kWithdrawn, 0, 1},
           Row{"NEXT_HOP of 3 octets", all + "4003030a0000", Fate::kWithdrawn, 0, 1},
           Row{"COMMUNITIES of 3 octets", all + "c00803000001", Fate::kWithdrawn, 0, 1},
           Row{"extended communities of 7 octets", all + "c0100700040000503a43", Fate::kWithdrawn,
               0, 1},
           Row{"extended communities of 0 octets", all + "c01000", Fate::kWithdrawn, 0, 1},
           Row{"unknown well-known attribute", all + "40630101", Fate::kWithdrawn, 0, 1},
           Row{"an attribute beyond the total length", all + "c0080a0000", Fate::kWithdrawn, 0, 1},
           Row{"two octets left", all + "c008", Fate::kWithdrawn, 0, 1},
           Row{"a next hop that is multicast",
               "800e1a"
               "00020110"
               "ff020000000000000000000000000001"
               "00"
               "2020010db8" +
                   kOrigin + kPath,
               Fate::kWithdrawn, 0, 1},
           Row{"the strongest wins: ORIGIN and AGGREGATOR",
               kReach + "40010103" + kPath + "c00701ff", Fate::kWithdrawn, 0, 2},
       }) {
    check_fate(row);
  }
}

TEST_CASE("attributes that mean little are discarded, and the routes taken") {
  const std::string all = kReach + kOrigin + kPath;
  for (const Row& row : {
           Row{"ATOMIC_AGGREGATE of 1 octet", all + "40060100", Fate::kTaken, 0, 1},
           Row{"AGGREGATOR of 6 octets", all + "c00706fde90a000001", Fate::kTaken, 0, 1},
           Row{"AS4_PATH from a speaker of four", all + "c0110602010000fde9", Fate::kTaken, 0, 1},
           Row{"LOCAL_PREF from outside", all + "40050400000064", Fate::kTaken, 0, 0},
           Row{"ORIGINATOR_ID of 3 octets", all + "8009030a0000", Fate::kTaken, 0, 0},
           Row{"ORIGIN twice", all + "40010102", Fate::kTaken, 0, 1},
       }) {
    check_fate(row);
  }
}

TEST_CASE("what leaves open which routes are meant ends the session") {
  const std::string rest = kOrigin + kPath;
  for (const Row& row : {
           Row{"MP_REACH twice", kReach + kReach + rest, Fate::kReset, 1},
           Row{"MP_UNREACH twice", kUnreach + kUnreach, Fate::kReset, 1},
           Row{"next hop of 4 octets",
               "800e0e"
               "00020104"
               "0a000001"
               "00"
               "2020010db8" +
                   rest,
               Fate::kReset, 9},
           Row{"a prefix of 129 bits",
               "800e1a"
               "00020110"
               "20010db8000000000000000000000001"
               "00"
               "8120010db8" +
                   rest,
               Fate::kReset, 9},
           Row{"a prefix cut short",
               "800e18"
               "00020110"
               "20010db8000000000000000000000001"
               "00"
               "202001" +
                   rest,
               Fate::kReset, 9},
           Row{"MP_UNREACH cut short", "800f020002", Fate::kReset, 9},
           Row{"MP_REACH with flags of a well-known one", "400e1a" + kReach.substr(6) + rest,
               Fate::kReset, 9},
           Row{"ORIGIN 3 without any route", "40010103" + kPath, Fate::kReset, 6},
           Row{"attributes beyond their length, before any route", "c0080a00", Fate::kReset, 1},
       }) {
    check_fate(row);
  }
  const auto answer = [](const char* hex) {
    return std::get<Notification>(decode_update(from_hex(hex), {true, AsNumber{65001}})).subcode;
  };
  CHECK(answer("0005 0000") == 1);
  CHECK(answer("0000 0005") == 1);
  CHECK(answer("0002 21ff 0000") == 10);
  CHECK(answer("0000 0000 21") == 10);
}

TEST_CASE("an unknown transitive attribute is kept as partial, another is not") {
  const auto decoded =
      decode_update(update_body(from_hex(kReach + kOrigin + kPath + "c0630107" + "80640101")),
                    {true, AsNumber{65001}});
  const auto& unknown = std::get<Update>(decoded).attributes->unknown;
  REQUIRE(unknown.size() == 1);
  CHECK(unknown[0] == UnknownAttribute{0xE0, 0x63, {7}});
}
