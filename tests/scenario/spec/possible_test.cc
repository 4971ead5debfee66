// What cannot happen, and what every run would pass, is refused when it is read, key by key.

#include <doctest/doctest.h>

#include "scenario/spec/expectation_check.h"
#include "scenario/spec/scenario.h"
#include "scenario/spec/shipped_files.h"
#include "tests/support/errors.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

constexpr const char* kAllReduce = "{all_reduce: {hosts: all, size: 1MiB, until: end}}";
constexpr const char* kWrite = "{write: {from: h0, to: h1, size: 64KiB, until: end}}";
constexpr const char* kJob =
    "{job: {name: a, hosts: all, steps: 3, phases: [{g: {all_reduce: {size: 1KiB}}}]}}";
constexpr const char* kPingPong = "{ping_pong: {from: h0, to: h1, size: 2B, until: end}}";
constexpr const char* kLinkDown = "{at: 300us, link_down: {link: \"p0.t0-0:u0\", for: 20us}}";

struct Parts {
  std::string workload = kAllReduce;
  std::string faults = {};
  std::string expect = {};
  std::string more = {};
};

Scenario read(const Parts& parts) {
  std::string text = "name: s\nfabric: octet\nend: 600us\n" + parts.more + "workload:\n  - " +
                     parts.workload + "\n";
  if (!parts.faults.empty()) text += "faults:\n  - " + parts.faults + "\n";
  if (!parts.expect.empty()) text += "expect:\n  - " + parts.expect + "\n";
  return parse_scenario(read_yaml_text(text, "f"));
}

/// The error without its place.
std::string refused(const Parts& parts) {
  const std::string text = test::error_of([&] { read(parts); });
  const size_t found = text.find("found ");
  return found == std::string::npos ? text : text.substr(found);
}

}  // namespace

TEST_CASE(
    "work and faults that no run to the end does are refused, and what is just possible is not") {
  struct Row {
    Parts parts;
    const char* error;
  };
  for (const Row& row : {
           Row{{"{all_reduce: {hosts: all, size: 1MiB, until: end, at: 600us}}"},
               "found work that begins at 600us: expected an instant before the end at 600us"},
           Row{{"{all_gather: {hosts: all, size: 1MiB, iterations: 2, at: 1ms}}"},
               "found work that begins at 1ms: expected an instant before the end at 600us"},
           Row{{"{permutation: {hosts: all, load: 50%, message: 64KiB, at: 700us}}"},
               "found work that begins at 700us: expected an instant before the end at 600us"},
           Row{{"{write: {from: h0, to: h1, size: 64KiB, at: 700us}}"},
               "found work that begins at 700us: expected an instant before the end at 600us"},
           Row{{"{incast: {from: h1, to: h0, load: 50%, message: 64KiB, at: 700us}}"},
               "found work that begins at 700us: expected an instant before the end at 600us"},
           Row{{"{ping_pong: {from: h0, to: h1, size: 2B, at: 700us}}"},
               "found work that begins at 700us: expected an instant before the end at 600us"},
           Row{{"{write: {from: h0, to: h1, size: 64KiB, at: 599us}}"}, "no error"},
           Row{{"{permutation: {hosts: all, load: 0.0000001%, message: 64KiB}}"},
               "found 0.0000001%, which is less than one packet until the end at 600us: expected a "
               "load that sends something"},
           Row{{"{incast: {from: h1, to: h0, load: 0.0000001%, message: 1B}}"},
               "found 0.0000001%, which is less than one packet until the end at 600us: expected a "
               "load that sends something"},
           Row{{"{permutation: {hosts: all, load: 0.1%, message: 64KiB, at: 599999ns}}"},
               "found 0.1%, which is less than one packet until the end at 600us: expected a load "
               "that sends something"},
           Row{{"{permutation: {hosts: all, load: 0.01%, message: 64KiB}}"}, "no error"},
           Row{{"{permutation: {hosts: all, load: 0%, message: 64KiB}}"},
               "found \"0%\": expected a load above 0%"},
           Row{{"{write: {from: h0, to: h1, size: 0B}}"},
               "found \"0B\": expected a size from 1B to 256MiB"},
           Row{{"{write: {from: h0, to: h1, size: 1B, count: 0}}"},
               "found \"0\": expected a whole number from 1 to 1000000"},
           Row{{"{all_reduce: {hosts: all, size: 1MiB, iterations: 0}}"},
               "found \"0\": expected a whole number from 1 to 1000000"},
           Row{{kAllReduce, "{at: 600us, link_down: {link: \"h0:p0\"}}"},
               "found \"600us\": expected an instant before the end at 600us"},
           Row{{kAllReduce, "{at: 300us, every: 20us, until: 200us, link_down: {link: \"h0:p0\"}}"},
               "found \"200us\": expected an instant after \"at\", 300us"},
           Row{{kAllReduce, "{at: 300us, every: 20us, until: 300us, link_down: {link: \"h0:p0\"}}"},
               "found \"300us\": expected an instant after \"at\", 300us"},
           Row{{kAllReduce, "{at: 300us, every: 50us, until: 350us, link_down: {link: \"h0:p0\"}}"},
               "found 50us, after which nothing is repeated before 350us: expected less than 50us, "
               "or a fault without \"every\""},
           Row{{kAllReduce, "{at: 300us, every: 300us, link_down: {link: \"h0:p0\"}}"},
               "found 300us, after which nothing is repeated before 600us: expected less than "
               "300us, or a fault without \"every\""},
           Row{{kAllReduce, "{at: 300us, every: 400us, times: 2, link_down: {link: \"h0:p0\"}}"},
               "found 400us, after which nothing is repeated before 600us: expected less than "
               "300us, or a fault without \"every\""},
           Row{{kAllReduce, "{at: 300us, every: 49us, until: 350us, link_down: {link: \"h0:p0\"}}"},
               "no error"},
           Row{{kAllReduce, "{at: 300us, every: 0us, link_down: {link: \"h0:p0\"}}"},
               "found \"0us\": expected a duration above 0"},
           Row{{kAllReduce, "{at: 300us, link_down: {link: \"h0:p0\", for: 0us}}"},
               "found \"0us\": expected at least 1ps"},
           Row{{kAllReduce, "{at: 300us, link_down: {link: \"h0:p0\", until: 300us}}"},
               "found \"300us\": expected an instant after 300us"},
           Row{{kAllReduce, "{at: 300us, flap: {link: \"h0:p0\", count: 0, down: 1us, up: 1us}}"},
               "found \"0\": expected a whole number from 1 to 1000"},
           Row{{kAllReduce, "{at: 300us, flap: {link: \"h0:p0\", count: 1, down: 0us, up: 1us}}"},
               "found \"0us\": expected at least 1ps"},
           Row{{kAllReduce, "{at: 300us, wire_loss: {link: \"h0:p0\", loss: 0%}}"},
               "found \"0%\": expected at least a share above 0%"},
           Row{{kAllReduce, "{at: 300us, rate: {link: \"h0:p0\", to: 1Kb/s}}"},
               "found \"1Kb/s\": expected a rate such as 100Gb/s (kb/s, Mb/s, Gb/s, Tb/s), from "
               "1Mb/s to 10Tb/s"},
           Row{{kAllReduce, "{at: 300us, incast: {from: h1, to: h0, size: 0B}}"},
               "found \"0B\": expected at least 64B"},
       }) {
    CAPTURE(row.parts.workload);
    CAPTURE(row.parts.faults);
    CHECK(refused(row.parts) == row.error);
  }
}

TEST_CASE("an expectation whose interval is empty, behind the end or before the work is refused") {
  // Of each kind that has an interval: its other fields, and the workload and transport that it needs.
  struct Kind {
    const char* name;
    const char* fields;
    Parts parts = {};
  };
  const Parts with_fault{kAllReduce, kLinkDown, "", ""};
  const Parts roce{kAllReduce, "", "", "transport: roce\n"};
  for (const Kind& kind : {
           Kind{"goodput", "at_least: 5%, of: line_rate"},
           Kind{"gap", "at_most: 3us, of: line_rate"},
           Kind{"samples", "every: 2us, min_over_mean: 5%"},
           Kind{"latency", "source: h0, destination: h1, at_most: 9us", {kPingPong}},
           Kind{"fairness", "at_least: 5%"},
           Kind{"losses_per_qp", "at_most: 5"},
           Kind{"affected_qps", "at_most: 5%"},
           Kind{"completion_time", "slower_by: 5%", with_fault},
           Kind{"losses", "at_most: 0"},
           Kind{"trims", "at_most: 0"},
           Kind{"retransmissions", "at_most: 0"},
           Kind{"share", "path: \"p0/*\", at_most: 20%"},
           Kind{"port_share", "port: \"p0.t0-0:u0\", among: \"p0.t0-0:u*\", at_most: 50%"},
           Kind{"path_unused", "path: \"p0/*\""},
           Kind{"pause", "at_most: 5%", roce},
       }) {
    CAPTURE(kind.name);
    const auto error = [&](const std::string& interval, const char* at = "") {
      Parts parts = kind.parts;
      if (at[0] != 0) {
        const size_t end = parts.workload.rfind("}}");
        parts.workload.insert(end, std::string(", at: ") + at);
      }
      parts.expect = std::string(kind.name) + ": {" + kind.fields + ", " + interval + "}";
      return refused(parts);
    };
    CHECK(error("from: 100us, until: 200us") == "no error");
    CHECK(error("from: 200us, until: 200us") ==
          "found \"200us\": expected an instant after \"from\"");
    CHECK(error("from: 600us") == "found \"600us\": expected an instant before the end at 600us");
    CHECK(error("from: 100us, until: 700us") ==
          "found \"700us\": expected at most the end at 600us");
    CHECK(error("from: 100us, until: 200us", "200us") ==
          "found \"200us\": expected an instant after 200us, when what it looks at begins to send");
    CHECK(error("from: 100us, until: 200us", "150us") == "no error");
  }
}

TEST_CASE("a measure is refused where the work cannot give it, or every run would pass it") {
  struct Row {
    Parts parts;
    const char* error;
  };
  const auto pings_of = [](const std::string& found) {
    return "found latency between hosts that " + found +
           " joins: expected hosts of a ping_pong alone; \"message_time\" measures messages of any "
           "workload";
  };
  const std::string write_joins = pings_of("\"write\""), ring_joins = pings_of("\"all_reduce\"");
  const char* kRoce =
      ": expected \"transport: roce\" for one, or no such check: only RoCE's data may "
      "be paused";
  const std::string lossless = std::string("found lossless, where no workload uses RoCE") + kRoce,
                    pause = std::string("found pause, where no workload uses RoCE") + kRoce,
                    circle =
                        std::string("found deadlock_free, where no workload uses RoCE") + kRoce;
  const char* kLatency = "latency: {source: h0, destination: h1, at_most: 7us}";
  const char* kNoBound = ": expected a bound that not every run keeps";
  const std::string zero = std::string("found \"0\"") + kNoBound,
                    whole = std::string("found \"100%\"") + kNoBound;
  for (
      const Row& row : {
          Row{{kPingPong, "", kLatency}, "no error"},
          Row{{kPingPong, "", "latency: {source: h1, destination: h0, at_most: 7us}"}, "no error"},
          Row{{kWrite, "", kLatency}, write_joins.c_str()},
          Row{{kAllReduce, "", kLatency}, ring_joins.c_str()},
          Row{{"{ping_pong: {from: h0, to: h2, size: 2B}}\n  - " + std::string(kWrite), "",
               kLatency},
              write_joins.c_str()},
          Row{{kAllReduce, "", "lossless"}, lossless.c_str()},
          Row{{kAllReduce, "", "pause: {at_most: 5%}"}, pause.c_str()},
          Row{{kAllReduce, "", "deadlock_free"}, circle.c_str()},
          Row{{kAllReduce, "", "lossless", "transport: roce\n"}, "no error"},
          Row{{"{write: {from: h0, to: h1, size: 1KiB, transport: roce}}", "", "deadlock_free"},
              "no error"},
          Row{{kAllReduce, kLinkDown, "completion_time: {slower_by: 1%}"}, "no error"},
          Row{{kWrite, kLinkDown, "completion_time: {slower_by: 1%}"},
              "found completion_time, without a collective: expected a collective such as "
              "\"all_reduce\" in \"workload\""},
          Row{{"{all_reduce: {hosts: all, size: 1MiB, until: end, at: 300us}}", kLinkDown,
               "completion_time: {slower_by: 1%}"},
              "found collectives that begin at 300us, when the first fault is there: expected one "
              "that begins before it: that is what later ones are compared with"},
          Row{{"{all_reduce: {hosts: all, size: 1MiB, until: end, at: 300us}}", kLinkDown,
               "goodput: {from: 400us, at_least: 95%}"},
              "found work that begins at 300us, not before the first fault at 300us: expected work "
              "before it: the baseline is the 20 RTT before it"},
          Row{{kJob, "", "step_time: {at_most: 110%, from_step: 2, job: a}"}, "no error"},
          Row{{kJob, "", "steps_done: 3"}, "no error"},
          Row{{kJob, "", "job_alive"}, "no error"},
          Row{{kJob, "", "exposed: {at_most: 5%, group: all}"}, "no error"},
          Row{{kWrite, "", "job_alive"},
              "found job_alive, without a job: expected a \"job\" in \"workload\""},
          Row{{kJob, "", "job_alive: {job: b}"}, "found the job \"b\": expected a"},
          Row{{kJob, "", "straggler: {at_most: 5%, from_step: 3}"},
              "found \"3\": expected a step that counts: a has steps 0 to 2"},
          Row{{kJob, "", "steps_done: 4"}, "found \"4\": expected at most 3: a has steps 0 to 2"},
          Row{{kJob, "", "exposed: {at_most: 5%, group: tp}"},
              "found the group \"tp\": expected one in which a exchanges anything"},
          Row{{kJob, "", "step_time: {at_most: 110%, of: baseline}"},
              "found no fault to measure from: expected at least one in \"faults\""},
          Row{{kWrite, "", "fairness: {at_least: 95%}"},
              "found the fairness of one pair of hosts: expected two pairs at least"},
          Row{{kAllReduce, "", "fairness: {source: h0, at_least: 95%}"},
              "found the fairness of one pair of hosts: expected two pairs at least"},
          Row{{kWrite, "", "goodput: {from: 0us, source: h1, at_least: 5%, of: line_rate}"},
              "found hosts between which no workload sends: expected hosts of which one sends to "
              "the other in \"workload\""},
          Row{{kWrite, "", "losses: {at_most: 0, source: h0, destination: h2}"},
              "found no workload from h0 to h2: expected hosts of which one sends to the other in "
              "\"workload\""},
          Row{{kWrite, "", "path_unused: {path: \"p0/*\", from: 0us, host: \"h[2-7]\"}"},
              "found hosts between which no workload sends: expected hosts of which one sends to "
              "the other in \"workload\""},
          Row{{kWrite, "", "losses: {at_most: 0, host: h1}"}, "no error"},
          Row{{kWrite, "", "path_unused: {path: p0/u1, from: 0us}"}, "no error"},
          Row{{kWrite, "", "path_unused: {path: p0/u1, from: 0us}", "transport: roce\n"},
              "found \"p0/u1\", a path by its uplink, where no workload chooses uplinks: expected "
              "all paths of planes such as p0/*: here switches choose the rest"},
          Row{{kWrite, "", "path_unused: {path: \"p0/*\", from: 0us}", "transport: roce\n"},
              "no error"},
          Row{{kWrite, "", "share: {path: \"p[6-8]/*\", at_least: 5%}"},
              "found \"p[6-8]/*\", which names \"p8/*\": no path matches that: expected only what "
              "is there, such as \"p6/u0\", \"p6/u1\", \"p6/u2\", \"p6/u3\" and so on"},
          Row{{kWrite, "", "losses: {at_least: 0}"}, zero.c_str()},
          Row{{kWrite, "", "counter: {name: duplicate_deliveries, at_least: 0}"}, zero.c_str()},
          Row{{kWrite, "", "affected_qps: {at_most: 100%}"}, whole.c_str()},
          Row{{kWrite, "", "share: {path: p0/u1, at_most: 100%}"}, whole.c_str()},
          Row{{kWrite, "", "losses: {at_least: 5, at_most: 4}"},
              "found \"4\": expected no less than \"at_least\""},
          Row{{kWrite, "", "goodput: {from: 0us, at_least: 50%, at_most: 40%, of: line_rate}"},
              "found \"40%\": expected no less than \"at_least\""},
          Row{{kWrite, "", "gap: {at_most: 100us, of: line_rate, from: 500us}"},
              "found \"100us\": expected less than the 100us that are looked at"},
          Row{{kWrite, "", "samples: {from: 590us, every: 11us, min_over_mean: 5%}"},
              "found \"11us\": expected at most the 10us that are looked at"},
      }) {
    CAPTURE(row.parts.workload);
    CAPTURE(row.parts.expect);
    CHECK(refused(row.parts) == row.error);
  }
}

TEST_CASE(
    "what another transport cannot answer is left out with it, and a contrast may ask its own") {
  const Scenario scenario =
      read({kAllReduce, "", "{path_unused: {path: p0/u1, from: 100us}}",
            "contrast:\n  - {transport: roce, expect: [lossless, {pause: {at_most: "
            "90%}}]}\n"});
  CHECK(scenario.contrasts.at(0).expect.size() == 2);
  CHECK(under_transport(scenario, find_contrast(scenario, "mrc-ecmp")).expect.empty());
  const Scenario roce = read({kAllReduce, "", "lossless", "transport: roce\n"});
  CHECK(under_transport(roce, find_contrast(roce, "mrc")).expect.size() == 1);
  CHECK(refused({kAllReduce, "", "no_qp_error",
                 "contrast:\n  - {transport: reps, expect: [lossless]}\n"})
            .find("found lossless, where no workload uses RoCE") == 0);
}

TEST_CASE("every shipped scenario can be answered") {
  for (const std::string& name : shipped_names("incidents")) {
    CAPTURE(name);
    CHECK_NOTHROW(load_scenario(name));
  }
}
