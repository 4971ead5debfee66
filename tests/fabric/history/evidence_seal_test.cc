#include "fabric/history/evidence_seal.h"

#include <doctest/doctest.h>

namespace mrclab {
namespace {

TEST_CASE("a seal is one line of text, and is read back") {
  const EvidenceSeal seal{{NodeId{0}, NodeId{1}, NodeId{2}, NodeId{7}, NodeId{9}, NodeId{10}},
                          FabricTime::from_us(3),
                          FabricTime::from_us(500),
                          1234};
  const std::string text = to_text(seal, 77);
  CHECK(text.starts_with(
      "sealed: nodes 0-2,7,9-10 from 3000000 ps until 500000000 ps, 1234 records, crc32 "));
  CHECK(parse_seal(text, 77) == seal);
  CHECK_FALSE(parse_seal(text, 78));  // belongs to another file
  const EvidenceSeal to_the_end{{}, {}, FabricTime::never(), 0};
  CHECK(to_text(to_the_end, 0)
            .starts_with("sealed: nodes none from 0 ps until the end, 0 records, crc32 "));
  CHECK(parse_seal(to_text(to_the_end, 0), 0) == to_the_end);
  CHECK(parse_seal_line(seal_line(seal, FabricTime::from_us(499), 77), 77) == seal);
}

TEST_CASE("no part of a seal, and none with another byte, is a seal") {
  const std::string text =
      to_text({{NodeId{3}}, FabricTime::from_us(1), FabricTime::from_us(2), 5}, 0);
  for (size_t size = 0; size < text.size(); ++size)
    CHECK_FALSE(parse_seal(text.substr(0, size), 0));
  for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string other = text;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ 1 << bit % 8);
    CHECK_FALSE(parse_seal(other, 0));
  }
  CHECK_FALSE(parse_seal(text + " ", 0));
  CHECK_FALSE(parse_seal("sealed: nodes 0-4294967295 from 0 ps until the end, 0 records", 0));
}

TEST_CASE("of a node that several processes ran one after the other, all files must be there") {
  const EvidenceSeal first{
      {NodeId{0}, NodeId{1}}, FabricTime::from_us(0), FabricTime::from_us(100), 0};
  const EvidenceSeal second{{NodeId{1}}, FabricTime::from_us(100), FabricTime::from_us(250), 0};
  const EvidenceSeal third{{NodeId{1}}, FabricTime::from_us(250), FabricTime::never(), 0};
  SealedSpans all;
  all.add_seal(third, "c");
  all.add_seal(first, "a");
  all.add_seal(second, "b");
  CHECK(all.complete_until(NodeId{0}) == FabricTime::from_us(100));
  CHECK(all.last_file(NodeId{0}) == "a");
  CHECK(all.complete_until(NodeId{1}) == FabricTime::never());
  CHECK(all.complete_until(NodeId{2}) == FabricTime::zero());
  CHECK(all.last_file(NodeId{2}).empty());
  SealedSpans gap;
  gap.add_seal(first, "a");
  gap.add_seal(third, "c");
  CHECK(gap.complete_until(NodeId{1}) == FabricTime::from_us(100));
  SealedSpans late;
  late.add_seal(second, "b");
  CHECK(late.complete_until(NodeId{1}) == FabricTime::zero());
}

}  // namespace
}  // namespace mrclab
