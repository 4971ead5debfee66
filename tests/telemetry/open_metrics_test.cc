// The text form of OpenMetrics: what parsers of others insist on.

#include "telemetry/open_metrics.h"

#include <doctest/doctest.h>

namespace mrclab::telemetry {
namespace {

TEST_CASE(
    "a counter's samples end in _total, a unit is declared, and the text ends with its mark") {
  OpenMetricsText text;
  text.add("sent_bytes", MetricKind::kCounter, "Bytes.", {{"node", "h0"}}, "", 1e15 + 1);
  text.add("depth", MetricKind::kGauge, "", {}, "queue=\"data\"", 0.5);
  CHECK(text.text() ==
        "# TYPE sent_bytes counter\n# UNIT sent_bytes bytes\n# HELP sent_bytes Bytes.\n"
        "sent_bytes_total{node=\"h0\"} 1000000000000001\n"
        "# TYPE depth gauge\ndepth{queue=\"data\"} 0.5\n# EOF\n");
}

TEST_CASE("samples of a family stand together, whenever they are added") {
  OpenMetricsText text;
  text.add("a", MetricKind::kGauge, "A.", {{"node", "x"}}, "", 1);
  text.add("b", MetricKind::kGauge, "B.", {}, "", 2);
  text.add("a", MetricKind::kGauge, "another help", {{"node", "y"}}, "k=\"v\"", 3);
  CHECK(text.text() ==
        "# TYPE a gauge\n# HELP a A.\na{node=\"x\"} 1\na{node=\"y\",k=\"v\"} 3\n"
        "# TYPE b gauge\n# HELP b B.\nb 2\n# EOF\n");
}

TEST_CASE("a label's value may be any text, and an info says texts") {
  OpenMetricsText text;
  text.add_info("lab", "It's \"a\" lab.\n\\", {{"name", "a\"b\\c\nd"}, {"fabric", "pair"}});
  CHECK(text.text() ==
        "# TYPE lab info\n# HELP lab It's \"a\" lab.\\n\\\\\n"
        "lab_info{name=\"a\\\"b\\\\c\\nd\",fabric=\"pair\"} 1\n# EOF\n");
}

TEST_CASE("what is no whole number keeps its digits") {
  OpenMetricsText text;
  text.add("t_seconds", MetricKind::kGauge, "", {}, "", 24'174'883e-12);
  CHECK(text.text() ==
        "# TYPE t_seconds gauge\n# UNIT t_seconds seconds\nt_seconds 2.4174883e-05\n# EOF\n");
}

}  // namespace
}  // namespace mrclab::telemetry
