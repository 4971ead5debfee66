#include "fabric/text/name_pattern.h"

#include <doctest/doctest.h>

using namespace mrclab;

TEST_CASE("patterns match whole names, and no wildcard crosses a colon") {
  struct Row {
    const char* pattern;
    const char* name;
    bool matches;
  };
  for (const Row& row : {
           Row{"h3", "h3", true},
           Row{"h3", "h30", false},
           Row{"h*", "h30", true},
           Row{"h?", "h30", false},
           Row{"h[0-3]", "h2", true},
           Row{"h[0-3]", "h4", false},
           Row{"h[0-3]", "h12", false},
           Row{"h[!0-3]", "h4", true},
           Row{"h[!0-3]", "h2", false},
           Row{"h[!0-3]", "h12", true},
           Row{"h[0,4-6]", "h5", true},
           Row{"h[12-15]", "h1", false},
           Row{"h[12-15]", "h5", false},
           Row{"h[12-15]", "h14", true},
           Row{"h[8-11]", "h9", true},
           Row{"h[8-11]", "h08", false},
           Row{"leaf[08-11]", "leaf09", true},
           Row{"leaf[08-11]", "leaf9", false},
           Row{"h{8..11}", "h10", true},
           Row{"h{8..11}", "h12", false},
           Row{"h8-h11", "h10", true},
           Row{"h8-h11", "h12", false},
           Row{"p0-p3.t0-0:u0-u3", "p2.t0-0:u1", true},
           Row{"p0-p3.t0-0:u0-u3", "p2.t0-1:u1", false},
           Row{"p[0-7].t0-*:u[0-3]", "p5.t0-12:u3", true},
           Row{"h1[0-5]", "h13", true},
           Row{"h1[0-5]", "h1", false},
           Row{"rail-[abc]", "rail-b", true},
           Row{"rail-[a-c]", "rail-d", false},
           Row{"rail-[!ab]", "rail-c", true},
           Row{"{leaf,spine}1", "spine1", true},
           Row{"{leaf,spine}1", "core1", false},
           Row{"p*.t1-0", "p12.t1-0", true},
           Row{"p*.t1-0", "p12.t1-01", false},
           Row{"p*", "p0.t0-0:d1", false},
           Row{"p*:d*", "p0.t0-0:d1", true},
           Row{"p?.t?-?:?1", "p0.t0-0:d1", true},
           Row{"h0?p1", "h0:p1", false},
           Row{"h0[!x]p1", "h0:p1", false},
           Row{"*a*b", "xaxab", true},
           Row{"*a*b", "xaxa", false},
           Row{"a*:*b", "ax:yb", true},
           Row{"a*:*b", "ax:y:b", false},
           Row{"*[0-3]", "h13", true},
           Row{"*[0-3]*:u*", "p2.t0-1:u0", true},
           Row{"h\\*", "h*", true},
           Row{"h\\*", "hx", false},
           Row{"", "", true},
           Row{"*", "", true},
           Row{"", "x", false},
       }) {
    CHECK_MESSAGE(matches_pattern(row.pattern, row.name) == row.matches,
                  row.pattern << " against " << row.name);
  }
}

TEST_CASE("a pattern of many stars does not take exponential time") {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  CHECK_FALSE(matches_pattern(pattern + "b", std::string(2000, 'a')));
  CHECK_FALSE(matches_pattern(pattern + "[0-3]", std::string(2000, 'a')));
}

TEST_CASE("what is no pattern, or could mean two things, is refused with what would be right") {
  struct Row {
    const char* pattern;
    const char* found;
    const char* expected;
  };
  const char* kItems = "numbers such as [8-11] or [1,4,8-11], or letters such as [abc]";
  const char* kWords = "numbers such as {8..11}, or words such as {leaf,spine}";
  const char* kOrder = "numbers of at most 9 digits, the smaller first, such as 8-11";
  const char* kEven =
      "numbers with as many digits each, as a digit follows; or all of the number in one "
      "pair of brackets";
  for (const Row& row : {
           Row{"h[89]", "\"[89]\" in \"h[89]\"",
               "[8,9] for each of these digits, or 89 without brackets for the number"},
           Row{"p*/u[02]", "\"[02]\" in \"p*/u[02]\"",
               "[0,2] for each of these digits, or 02 without brackets for the number"},
           Row{"h[11-8]", "\"[11-8]\" in \"h[11-8]\"", kOrder},
           Row{"h11-h8", "\"h11-h8\"", kOrder},
           Row{"h{11..8}", "\"{11..8}\" in \"h{11..8}\"", kOrder},
           Row{"h[0-9999999999]", "\"[0-9999999999]\" in \"h[0-9999999999]\"", kOrder},
           Row{"h[08-9]", "\"[08-9]\" in \"h[08-9]\"",
               "as many digits in both numbers where one begins with 0, such as 08-11"},
           Row{"h[]", "\"[]\" in \"h[]\"", kItems},
           Row{"h[0-]", "\"[0-]\" in \"h[0-]\"", kItems},
           Row{"h[1,]", "\"[1,]\" in \"h[1,]\"", kItems},
           Row{"h0[:]p1", "\"[:]\" in \"h0[:]p1\"", kItems},
           Row{"h[a1]", "\"[a1]\" in \"h[a1]\"", kItems},
           Row{"h[1-3,2]", "\"[1-3,2]\" in \"h[1-3,2]\"", "each number, letter or word once"},
           Row{"h[!a,1]", "\"[!a,1]\" in \"h[!a,1]\"", "numbers or letters behind the !, not both"},
           Row{"h{}", "\"{}\" in \"h{}\"", kWords},
           Row{"h{1..}", "\"{1..}\" in \"h{1..}\"", kWords},
           Row{"h[0-3", "\"h[0-3\"", "a ] behind the [, as in h[8-11]"},
           Row{"h{0..3", "\"h{0..3\"", "a } behind the {, as in h{8..11}"},
           Row{"h[8-12]2", "\"[8-12]\" in \"h[8-12]2\"", kEven},
           Row{"h[8-12][0-3]", "\"[8-12]\" in \"h[8-12][0-3]\"", kEven},
       }) {
    CAPTURE(row.pattern);
    const auto read = NamePattern::read(row.pattern);
    const auto* mistake = std::get_if<PatternMistake>(&read);
    REQUIRE(mistake != nullptr);
    CHECK(mistake->found == row.found);
    CHECK(mistake->expected == row.expected);
    CHECK_FALSE(matches_pattern(row.pattern, "h9"));
  }
}

TEST_CASE("of what a pattern names, the first that is not there is found") {
  const std::vector<std::string> names{"a0", "a1", "b0", "b2"};
  struct Row {
    const char* pattern;
    std::vector<uint32_t> places;
    const char* missing;
    uint64_t missing_count;
  };
  for (const Row& row : {Row{"a*", {0, 1}, "", 0}, Row{"[ab]0", {0, 2}, "", 0},
                         Row{"a[0-1]", {0, 1}, "", 0}, Row{"[ab][0-2]", {0, 1, 2, 3}, "a2", 2},
                         Row{"a[1-4]", {1}, "a2", 3}, Row{"c*", {}, "c*", 1},
                         Row{"*[0-2]", {0, 1, 2, 3}, "", 0}, Row{"*[0-3]", {0, 1, 2, 3}, "*3", 1},
                         Row{"b[!0]", {3}, "", 0}, Row{"b[!1]", {2, 3}, "b1", 1}}) {
    CAPTURE(row.pattern);
    const NamesFound found = find_named(row.pattern, names);
    CHECK(found.places == row.places);
    CHECK(found.missing == row.missing);
    CHECK(found.missing_count == row.missing_count);
  }
  CHECK(find_named("a[0-99999999][0-99999999]", names).malformed);
}

TEST_CASE("of names with two ends each end is looked at for itself") {
  const std::vector<std::string> links{"h0:p0--t0:d0", "h1:p0--t0:d1"};
  const NamesAt names_at = [&](uint32_t place, std::vector<std::string>& names) {
    names = {links[place]};
  };
  CHECK(find_named("h[0-1]:p0--t0:d[0-1]", 2, names_at, "--").missing_count == 0);
  const NamesFound found = find_named("h[0-2]:p0--t0:d*", 2, names_at, "--");
  CHECK(found.missing == "h2:p0--t0:d*");
  CHECK(find_named("h[!1]:p0--*:*", 2, names_at, "--").places == std::vector<uint32_t>{0});
}

TEST_CASE("the name of a thing means that thing, also where it looks like a range") {
  CHECK(find_named("r1-r2", {"r1", "r2", "r1-r2"}).places == std::vector<uint32_t>{2});
  CHECK(find_named("r1-r2", {"r1", "r2"}).places == std::vector<uint32_t>{0, 1});
}

TEST_CASE("a list is split between brackets, not in them") {
  CHECK(split_names("h[1,2], {a,b}, random(2, h*) , x") ==
        std::vector<std::string_view>{"h[1,2]", "{a,b}", "random(2, h*)", "x"});
}
