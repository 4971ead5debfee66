#include "analysis/expect/expectation_meanings.h"

#include <algorithm>
#include <span>

namespace mrclab::analysis {
namespace {

struct CheckMeaning {
  std::string_view check, meaning;
};

constexpr CheckMeaning kChecks[] = {
    {"goodput",
     "mean goodput of all flows or of some: new bytes of payload that arrived, each once, by the time"},
    {"gap",
     "the longest row of intervals in each of which goodput stayed below a share of its reference"},
    {"samples", "goodput in equal intervals: the lowest of them over their mean"},
    {"fairness",
     "how alike the goodputs of pairs of hosts are: Jain's index (DEC-TR-301, 1984), or lowest over highest"},
    {"steady",
     "the baseline before the first fault varies by at most 5 %, else the check is inconclusive"},
    {"liveness", "healed, goodput_back, evs_good and queues_empty, within the same bound"},
    {"healed", "at the end every fault that heals is undone"},
    {"goodput_back",
     "from the last heal to the end of the first 20 RTT whose goodput is back; 0 if it never was away"},
    {"evs_good",
     "from the last heal to when every entropy value of every living queue pair is usable again"},
    {"queues_empty",
     "from the last heal to when packets wait no longer in switches than before the first fault"},
    {"losses_per_qp",
     "data packets lost by the queue pair that lost most; each direction counts for itself"},
    {"affected_qps", "queue pairs (directions with data) that lost a data packet, of all"},
    {"losses", "data packets that did not arrive, by their drop records"},
    {"trims", "data packets that a switch cut to their headers (UEC 1.0 and MRC: packet trimming)"},
    {"retransmissions", "transmissions of a PSN after its first that began to leave their host"},
    {"counter", "a counter of the whole run, made from the captures"},
    {"share", "of first transmissions, those that take these paths"},
    {"port_share",
     "of the data packets that leave a switch by some ports, those by one of them, as its captures show"},
    {"path_unused",
     "data packets that begin to leave for a path that is not to be used; probes may"},
    {"lossless",
     "data of RoCE that was dropped for lack of room, also by a watchdog; what a fault destroys does not count"},
    {"pause",
     "of the time, how long RoCE's data stood paused (IEEE 802.1Q PFC) at the port that was paused most"},
    {"deadlock_free", "circles of ports, each paused by the switch that waits at the next one"},
    {"detect",
     "from the start of each fault to the last first transmission of an affected sender on an affected path"},
    {"recover",
     "from the start of each fault to the first 20 RTT whose goodput is back at a share of the baseline"},
    {"leave",
     "from the start of each fault to when every affected sender has left the affected path for the first time"},
    {"no_qp_error", "queue pairs that went to the error state"},
    {"memory_intact",
     "bytes of completed writes that are not where they belong, or touched what they should not"},
    {"qp_error",
     "queue pairs that went to the error state: at least one, and each for this reason"},
    {"safety",
     "placed_once, no_silent_loss, in_order, no_qp_error_while_a_path_lives and accounted: what must hold while faults are on"},
    {"placed_once",
     "bytes that were placed twice with different content, or outside of their region"},
    {"no_silent_loss", "messages that are neither complete, failed with an error, nor under way"},
    {"in_order",
     "completions, or acknowledgements of all up to a PSN, that came before what stands before them"},
    {"no_qp_error_while_a_path_lives",
     "queue pairs that failed though a path between their hosts was never impaired in the last retry span"},
    {"accounted",
     "transmissions that were neither delivered, trimmed, dropped with a cause, nor on their way at the end"},
    {"latency",
     "mean time of a ping-pong one way: half of a round trip, as perftest's write_lat has it; only where pings wait for pongs"},
    {"completion_time",
     "iterations of a collective: by how much they take longer than those before the first fault, on the average"},
    {"mapper_names",
     "from the first fault to the report by which the mapper's probes name this part, and nothing else; none: nothing at all"},
    {"isolated",
     "packets of a host of one tenant that reached a host of another, by what hosts' ports saw"},
    {"dropped_for",
     "packets of a host that were dropped for a cause, by the port that they came in by, whatever "
     "address they have"},
    {"datagrams", "datagrams that are no MRC and reached a host"},
    {"orchestrator_names",
     "from the start to when the orchestrator names this port or switch as not as planned, and nothing else; none: all is as planned"},
    {"denied",
     "from the first fault until every host has left a part out of its paths; none: nothing is ever left out"},
    {"allowed_again",
     "from the last heal until every host uses a part again that was denied; at the end it is in use"},
    {"step_time",
     "steps of a job, each from the end of those before it to its last rank's end: the one that exceeds its bound most"},
    {"exposed",
     "of the time of a job's steps, how long ranks exchanged data and computed nothing, on the average over ranks"},
    {"straggler",
     "by how much longer the slowest rank computed than the median rank, in the step where that is most"},
    {"steps_done", "steps of a job that ended; of several jobs the fewest"},
    {"job_alive", "jobs of which a rank ended with an error"},
    {"job_goes_on", "time until a job that had an error goes on; of several the longest"},
    {"interference", "mean step of a job beside the others, by the same alone"},
    {"job_dies",
     "from the first fault, or the job's begin, to the error by which a rank of it ends"},
    {"ttft",
     "from a request's arrival to the first token of its answer, at the rank that `by` names over all requests; an open one counts so far"},
    {"tpot",
     "mean time of the tokens of an answer behind the first, over answers of two tokens at least"},
    {"slo", "requests of a service that are served within its objective, of all"},
    {"message_time",
     "from when a message's first packet begins to leave to when its last missing one has arrived; an open one counts so far"},
};

struct FieldMeaning {
  std::string_view check, field, meaning;  ///< check "": of every other one
};

constexpr FieldMeaning kFields[] = {
    {"detect", "within", "the bound of every fault's time"},
    {"recover", "within", "the bound of every fault's time"},
    {"leave", "within", "the bound of every fault's time"},
    {"mapper_names", "within", "the bound, from the first fault; absent: none"},
    {"denied", "within", "the bound, from the first fault; absent: none"},
    {"denied", "part", "kind and name of a part, or a pattern of them; none: it denies nothing"},
    {"denied", "at_most", "so many times at most; absent: any number"},
    {"allowed_again", "within", "the bound, from the last heal; absent: none"},
    {"allowed_again", "part", "kind and name of a part, or a pattern of them"},
    {"mapper_names", "part",
     "kind and name of a part, or a pattern of them; none: it names nothing"},
    {"mapper_names", "by",
     "who names it: the mapper's probes, what hosts report of their paths (events), or either; absent: probes"},
    {"orchestrator_names", "within", "the bound, from the start; absent: none"},
    {"orchestrator_names", "part",
     "a port or a switch, or a pattern of them; none: all is as planned"},
    {"step_time", "at_most", "a multiple of the reference such as 105%, or a time"},
    {"step_time", "at_least", "likewise, of the slowest step: of a contrast"},
    {"step_time", "of",
     "roofline: the same step on a network without loss or queues; median: of the steps that count; baseline: mean of those before the first fault; absent: roofline"},
    {"exposed", "group", "exchanges of this group, as the job names it; absent: of all"},
    {"straggler", "at_most", "the most that passes: 5% longer than the median rank"},
    {"job_dies", "by", "words of its reason, as Retry Counter Exceeded"},
    {"job_dies", "within", "the bound; absent: the end of the run"},
    {"job_goes_on", "within", "the bound, from the error to the begin of the next attempt"},
    {"job_goes_on", "steps_repeated", "the most that are run again; absent: any"},
    {"interference", "at_most", "a multiple of the time alone such as 120%"},
    {"interference", "at_least", "likewise: of a contrast"},
    {"", "from_step", "the first step that counts, from 0; absent: the first behind the warm-up"},
    {"", "job", "the job of this name; absent: every job"},
    {"", "within", "the bound, from the last heal; absent: 100 RTT"},
    {"", "from", "beginning of what is looked at; absent: of the run"},
    {"", "until", "end of what is looked at, itself excluded; absent: of the run"},
    {"", "at_least", "the least that passes"},
    {"", "at_most", "the most that passes"},
    {"", "of",
     "what the share is of: goodput of the same flows before the first fault, the ports' rates, or a rate"},
    {"", "host", "of these flows those that a host of this pattern sends or receives"},
    {"latency", "source", "the host that sends pings"},
    {"latency", "destination", "the host that answers with pongs"},
    {"", "source", "a pattern of hosts: flows that they send; absent: all"},
    {"", "destination", "a pattern of hosts: flows that they receive; absent: all"},
    {"", "plane", "of these flows what goes over this plane"},
    {"isolated", "tenants", "only packets of or to these; absent: all tenants"},
    {"dropped_for", "reason", "the cause, or a pattern of causes such as not_authorised*"},
    {"dropped_for", "host", "a pattern of hosts that sent them; absent: all"},
    {"datagrams", "to", "a pattern of hosts"},
    {"", "to", "the share of the baseline that counts as back; absent: 95 %"},
    {"", "reason", "as the queue pair's event has it: Retry Counter Exceeded"},
    {"", "below", "the share that each of the intervals misses; absent: 10 %"},
    {"gap", "every", "length of an interval; absent: a quarter of the base RTT"},
    {"", "every", "length of an interval"},
    {"", "min_over_mean", "the least that passes"},
    {"fairness", "by",
     "Jain's index (1: all alike, 1/n: one has all), or the lowest over the highest"},
    {"message_time", "by",
     "of all messages the slowest (absent: this), a percentile, or the median"},
    {"ttft", "by", "of all requests the slowest (absent: this), a percentile, or the median"},
    {"tpot", "by", "of all requests the slowest (absent: this), a percentile, or the median"},
    {"", "part", "fabric: what of it the fabric took; absent: whole"},
    {"", "slower_by", "the most that passes"},
    {"port_share", "port", "the port, as p0.t0-0:u0"},
    {"pause", "port", "a pattern of ports; absent: all"},
    {"", "among", "a pattern of ports of the same switch, that one among them"},
    {"", "path", "a pattern of paths: p0/u1, p0/*, p*/u2"},
    {"", "name", "of the counter, as `analyze` lists them"},
    {"", "longer_than", "circles that stood for less do not count; absent: 32 RTT"},
    {"", "min_size", "shorter messages do not count"},
    {"", "max_size", "longer messages do not count"},
};

}  // namespace

std::string_view meaning_of_check(std::string_view check) {
  const std::span rows(kChecks);
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const CheckMeaning& one) { return one.check == check; });
  return row == rows.end() ? "" : row->meaning;
}

std::string_view meaning_of_field(std::string_view check, std::string_view field) {
  for (const std::string_view of : {check, std::string_view()}) {
    for (const FieldMeaning& row : kFields) {
      if (row.check == of && row.field == field) return row.meaning;
    }
  }
  return "";
}

}  // namespace mrclab::analysis
