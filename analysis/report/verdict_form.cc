#include "analysis/report/verdict_form.h"

#include "analysis/checks/checks.h"
#include "analysis/report/form_parts.h"
#include "analysis/report/job_form.h"
#include "fabric/text/schema_id.h"

namespace mrclab::analysis {
namespace {

using Form = ValueForm;
using Kind = ValueForm::Kind;
using Key = ValueForm::Key;

const Form kText = Form::of(Kind::kText), kNumber = Form::of(Kind::kNumber),
           kTrueFalse = Form::of(Kind::kTrueFalse);

Form time_or_null() { return or_null(Form::integer(0, INT64_MAX)); }
Form texts() { return Form::list(kText); }

Form timing_form() {
  return object(
      {{"mode", Form::word({"carried", "wall"}), "where the time comes from: packets, or a clock"},
       {"faithful", kTrueFalse, "the history is that of the modelled hardware"},
       {"late_frames", count_form(), "frames that came after their time"},
       {"gaps", count_form(), "frames that the kernel lost"},
       {"min_slack_ns", or_null(kNumber), "least time between a frame's coming and its need"},
       {"dilation",
        object({{"min", kNumber, "of samples over the run"},
                {"mean", kNumber, "of them"},
                {"max", kNumber, "of them"}}),
        "lab seconds per fabric second"},
       {"jumps", count_form(), "times that the clock went over an empty stretch"},
       {"holds", count_form(), "times that the clock began to wait for the slowest process"},
       {"reasons", texts(), "why it is not faithful"},
       {"disturbances", texts(), "what others did"}});
}

Form packet_form() {
  return Form::map({{"source", kText, "host", Key::kRequired},
                    {"destination", kText, "host", Key::kRequired},
                    {"qp", kText, "queue pair, in hexadecimal", Key::kRequired},
                    {"psn", count_form(), "packet sequence number", Key::kRequired},
                    {"file", kText, "a capture of the run folder"},
                    {"frame", count_form(), "of that capture, from 1"}});
}

Form check_form_of_verdict() {
  const Form published = object({{"value", kNumber, "in the check's unit"},
                                 {"text", kText, "as it was written"},
                                 {"figure", kText, "its source, with the place in it"}});
  const Form where = Form::map(
      {{"from_ns", Form::integer(0, INT64_MAX), "nanoseconds of fabric time", Key::kRequired},
       {"until_ns", time_or_null(), "null: the end", Key::kRequired},
       {"who", kText, "host, queue pair, port or fault", Key::kRequired},
       {"packet", packet_form(), "one to look at"}});
  const Form result = Form::word({"pass", "fail", "inconclusive"});
  const Form looked = object({{"count", count_form(), "how many"},
                              {"what", kText, "of what: packets, queue pairs, faults, ..."},
                              {"from_ns", Form::integer(0, INT64_MAX), "beginning of its window"},
                              {"until_ns", time_or_null(), "end of its window; null: the end"},
                              {"source", Form::word({kSourceNames.begin(), kSourceNames.end()}),
                               "the evidence that shows them"},
                              {"text", kText, "all of it as a sentence"}});
  return Form::map(
      {{"name", kText, "the expectation's word", Key::kRequired},
       {"result", result, "inconclusive: the evidence is not enough", Key::kRequired},
       {"measured", or_null(kNumber), "in `unit`", Key::kRequired},
       {"bound", or_null(kNumber), "in `unit`", Key::kRequired},
       {"unit", kText, "of measured and bound: %, us, Gb/s; empty: a count", Key::kRequired},
       {"about", kText, "the expectation as a sentence", Key::kRequired},
       {"note", kText, "why, or what else was seen", Key::kRequired},
       {"looked", looked, "what it looked at; a check that passes has it"},
       {"published", published, "what was measured elsewhere"},
       {"where", where, "what did not hold: when, who, which packet"}});
}

Form fault_form() {
  const Form dip = object({{"transient_ns", Form::integer(0, INT64_MAX), "how long it was lower"},
                           {"transient_rtts", kNumber, "the same in base RTTs"},
                           {"lowest_percent", or_null(kNumber), "of the baseline"},
                           {"steady_percent", kNumber, "of the baseline, afterwards"},
                           {"text", kText, "as a sentence"}});
  return object({{"fault", kText, "as a sentence"},
                 {"kind", kText, "its word in files"},
                 {"at_ns", Form::integer(0, INT64_MAX), "when it began"},
                 {"detected_ns", time_or_null(), "until the last first transmission on its paths"},
                 {"recovered_ns", time_or_null(), "until goodput was back"},
                 {"recovery_note", kText, "why that is not known, or what it was held against"},
                 {"lost", count_form(), "packets that it took"},
                 {"last_loss_ns", time_or_null(), "until the last of them"},
                 {"session_lost_ns", time_or_null(), "FARE: until BGP noticed"},
                 {"routed_ns", time_or_null(), "FARE: until tables were written"},
                 {"healed", kTrueFalse, "it ended before the run"},
                 {"healed_at_ns", time_or_null(), "when it ended"},
                 {"still_used", kTrueFalse, "its paths were sent on to the end"},
                 {"dip", or_null(dip), "what goodput did"},
                 {"note", kText, "what else was seen of it"}});
}

std::vector<Form::Key> blame_keys() {
  return {{"kind", kText, "of component"},
          {"component", kText, "its name"},
          {"symptom", kText, "what it did to packets"},
          {"or_else", texts(), "components that explain the same packets"},
          {"places", count_form(), "of it and of or_else; a wire and its link are one"},
          {"from_ns", kNumber, "first packet concerned"},
          {"until_ns", kNumber, "last packet concerned"},
          {"times", count_form(), "stretches"},
          {"bad", count_form(), "packets that suffered there"},
          {"of", count_form(), "of so many that passed"},
          {"bad_elsewhere", count_form(), "packets that suffered elsewhere in that time"},
          {"noticed", kText, "which host first left which path"},
          {"evidence", kText, "a sentence"}};
}

Form mapper_form() {
  std::vector<Form::Key> found = blame_keys();
  found.push_back({"named_ns", kNumber, "the report came by which it was certain"});
  found.push_back({"loss_low", kNumber, "of its loss, with 95 %"});
  found.push_back({"loss_high", kNumber, "likewise"});
  return object({{"period_ns", kNumber, "in which every link is probed once"},
                 {"timeout_ns", kNumber, "a probe is lost after it"},
                 {"form", Form::word({"own", "stamp"}), "what a probe carries"},
                 {"share", kNumber, "of the port that probes take most of; 1: all"},
                 {"threshold", kNumber, "of the sequential test, in nats"},
                 {"links", count_form(), "of the fabric"},
                 {"probed", count_form(), "links that a probe crossed"},
                 {"reports", count_form(), "of agents"},
                 {"sent", count_form(), "probes"},
                 {"lost", count_form(), "probes that did not come back"},
                 {"late", count_form(), "probes that came back after their report"},
                 {"slow", count_form(), "probes that came back a base RTT late, or trimmed"},
                 {"marked", count_form(), "probes with a congestion mark"},
                 {"again", count_form(), "probes that came back twice"},
                 {"forged", count_form(), "packets that claimed to be probes"},
                 {"unexplained", count_form(), "lost probes for which nothing is named"},
                 {"found", Form::list(object(found)), "what was broken, by probes alone"},
                 {"ev_events", count_form(), "entropy values that hosts reported as assumed bad"},
                 {"by_events", Form::list(object(std::move(found))),
                  "what was broken, by these reports alone"},
                 {"none", kText, "why nothing can be found"}});
}

Form orchestrator_form() {
  const Form found =
      object({{"kind", Form::word({"miscabled", "missing", "one_way", "unknown", "kept_out"}),
               "of finding"},
              {"parts", texts(), "ports, or the switch"},
              {"sentences", texts(), "one for each cable"},
              {"remedies", texts(), "the fewest exchanges of cables that mend it"},
              {"named_ns", kNumber, "when its last part was known"}});
  const Form step = object({{"t_ns", kNumber, "when"},
                            {"switch", kText, "its name"},
                            {"phase", kText, "that it came to"},
                            {"why", kText, "what was checked, or differs"}});
  const Form link = object({{"a", kText, "port"}, {"b", kText, "port"}});
  return object({{"period_ns", kNumber, "between two LLDP frames of a port"},
                 {"links", count_form(), "planned, between nodes that speak LLDP"},
                 {"as_planned", count_form(), "of these heard by both ends"},
                 {"all_heard_ns", kNumber, "when the last port heard its first neighbour"},
                 {"heard", Form::list(link), "links that both ends heard"},
                 {"found", Form::list(found), "what is not as planned"},
                 {"services", Form::list(step), "switches that were provisioned"},
                 {"none", kText, "why nothing can be found"}});
}

Form denylist_form() {
  std::vector<Form::Key> span{{"part", kText, "kind and name"},
                              {"why", kText, "as the collector had it"},
                              {"at_ns", kNumber, "the collector denied it"},
                              {"hosts", count_form(), "that have left it out"},
                              {"reached_ns", kNumber, "the last of them did"},
                              {"allowed_ns", kNumber, "it was allowed again; -1: it was not"},
                              {"back_ns", kNumber, "at the last host; -1: it was not"}};
  return object({{"collector", kText, "the host that decides"},
                 {"hosts", count_form(), "of the fabric"},
                 {"lists", count_form(), "that were decided"},
                 {"expired", count_form(), "lists that a host forgot, as nothing came any more"},
                 {"left_out", count_form(),
                  "parts that a host did not deny a queue pair, as it would have been too many"},
                 {"spans", Form::list(object(std::move(span))), "parts, as they were denied"},
                 {"capped",
                  Form::list(object({{"part", kText, "kind and name"},
                                     {"why", kText, "what it was asked for, and what it exceeds"},
                                     {"at_ns", kNumber, "when"}})),
                  "parts that were not denied, as it would have been too much"}});
}

Form metrics_form() {
  const Form pauses =
      object({{"ports", count_form(), "that were paused"},
              {"longest_ns", Form::integer(0, INT64_MAX), "that a port was paused at a stretch"},
              {"longest_port", kText, "which port that was"},
              {"first_pauser", kText, "who began"}});
  const Form spread =
      object({{"flows", count_form(), "directions of queue pairs that sent over uplinks"},
              {"one_path", count_form(), "of them those that kept to one uplink"},
              {"sharing", count_form(), "of those: others of them on the same uplink"},
              {"most", count_form(), "of those: most on one uplink"},
              {"shared", count_form(), "uplinks with more than one of those"},
              {"uplinks_by_flows", Form::list(count_form()),
               "uplinks with so many of those, from none on"},
              {"uplinks", count_form(), "of the T0s whose hosts sent"},
              {"used", count_form(), "uplinks that carried data"},
              {"busiest", kText, "the port that most packets left by"},
              {"busiest_to_mean", kNumber, "its packets over the mean"}});
  const Form message_time = object({{"messages", count_form(), "that began to leave"},
                                    {"open", count_form(), "of them, at the end of the run"},
                                    {"p50_ns", count_form(), "half took no longer"},
                                    {"p99_ns", count_form(), "99 % took no longer"},
                                    {"max_ns", count_form(), "the slowest one's"},
                                    {"longest_open_ns", count_form(), "of those that are open"}});
  const Form deepest =
      object({{"bytes", count_form(), "that stood in it"}, {"port", kText, "whose queue it was"}});
  return object({{"goodput_bps", kNumber, "bits per second that arrived, of the whole run"},
                 {"baseline_bps", or_null(kNumber), "the same before the first fault"},
                 {"baseline_variation", kNumber, "share by which that varied"},
                 {"no_baseline", kText, "why it cannot be used; empty: it can"},
                 {"data_packets", count_form(), "first transmissions"},
                 {"delivered", count_form(), "packets"},
                 {"delivered_bytes", count_form(), "of payload, each once"},
                 {"retransmitted", count_form(), "packets"},
                 {"trimmed", count_form(), "packets"},
                 {"lost", count_form(), "packets"},
                 {"refused", count_form(), "packets that a receiver had no room for"},
                 {"naks", count_form(), "RoCE: go back"},
                 {"timeouts", count_form(), "RoCE: of ACKs, after which a sender goes back"},
                 {"cnps", count_form(), "RoCE: congestion notifications"},
                 {"flows_cut", count_form(), "flows that lost every path"},
                 {"deepest_queue", or_null(deepest), "the longest that any port had"},
                 {"qps_failed", count_form(), "queue pairs"},
                 {"pauses", or_null(pauses), "RoCE: PFC"},
                 {"spread", or_null(spread), "how flows lay on uplinks"},
                 {"message_time", or_null(message_time),
                  "first packet leaves to last packet arrives; open messages: the time so far"},
                 {"work_ends", kTrueFalse, "the workload is finite"},
                 {"completed_ns", time_or_null(), "when it was done"},
                 {"captures", count_form(), "files that were read"},
                 {"capture_records", count_form(), "packets in them"},
                 {"capture_skipped", count_form(), "of them those that are no packets of ours"},
                 {"history_sha256", kText, "digest of what every node did"},
                 {"history_version", count_form(), "only digests of one version can be compared"}});
}

Form cost_form() {
  return object({{"delivered_bytes", count_form(), "by the run, up to its end"},
                 {"twin_delivered_bytes", count_form(), "by the same run without faults"},
                 {"behind_ns", count_form(), "so much earlier that one had delivered as much"},
                 {"completed_ns", time_or_null(), "when the work was done, if it is finite"},
                 {"twin_completed_ns", time_or_null(), "the same without faults"},
                 {"text", kText, "as a sentence"}});
}

Form taps_form() {
  return object({{"interfaces", count_form(), "that were captured"},
                 {"packets", count_form(), "that it captured"},
                 {"bytes", count_form(), "of these packets"},
                 {"missing", count_form(), "that libpcap did not see"},
                 {"cpu_seconds", kNumber, "of processors"},
                 {"open_seconds", kNumber, "from opening to closing, by the wall's clock"}});
}

}  // namespace

const ValueForm& verdict_form() {
  static const Form kForm = Form::map(
      {{"schema", Form::word({schema_id("verdict")}), "of this document", Key::kRequired},
       {"scenario", kText, "its name", Key::kRequired},
       {"world", Form::word({"live", "sim", "captures"}),
        "what ran it; captures: of others, and nothing ran", Key::kRequired},
       {"seed", count_form(), "of all draws", Key::kRequired},
       {"payload", Form::word({"real", "elided"}), "elided: packets had headers alone",
        Key::kRequired},
       {"version", kText, "of the program", Key::kRequired},
       {"commit", kText, "of the program's sources; \"unknown\" in an unpacked archive"},
       {"build_type", kText, "of the program, as CMake calls it"},
       {"result", Form::word({"pass", "fail", "inconclusive", "no checks"}),
        "the worst of the checks", Key::kRequired},
       {"without", texts(), "mechanisms that were switched off"},
       {"timing", timing_form(), "whether time can be trusted", Key::kRequired},
       {"checks", Form::list(check_form_of_verdict()), "one for each expectation", Key::kRequired},
       {"faults", Form::list(fault_form()), "what each came to", Key::kRequired},
       {"blame", Form::list(object(blame_keys())), "what was broken, by packets alone",
        Key::kRequired},
       {"no_blame", kText, "why nothing is blamed"},
       {"losses_not_told", kText, "lost where switches chose the way, and no record shows it"},
       {"mapper", mapper_form(), "what a mapper's probes found; where the fabric has one"},
       {"orchestrator", orchestrator_form(), "what is not as planned; where the fabric has one"},
       {"denylist", denylist_form(), "what was denied because of it; where the fabric has one"},
       {"jobs", Form::list(job_form()), "what each job came to; where the workload has one"},
       {"metrics", metrics_form(), "measured over the whole run", Key::kRequired},
       {"loss_timers", kText,
        "where packets were lost: the NIC's and the transport's profile, and their times"},
       {"cost", cost_form(), "of the faults, against the same run without them"},
       {"taps", taps_form(), "what libpcap cost"},
       {"depends_on", texts(), "compressed timers, a run shorter than a control loop"},
       {"notes", texts(), "sentences about the evidence", Key::kRequired}});
  return kForm;
}

}  // namespace mrclab::analysis
