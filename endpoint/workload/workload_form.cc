#include "endpoint/workload/workload_form.h"

#include "endpoint/workload/workload_spec.h"

namespace mrclab::endpoint {
namespace {

using Form = ValueForm;
using Kind = ValueForm::Kind;
using Key = ValueForm::Key;

const Form kBytes = Form::of(Kind::kBytes), kShare = Form::of(Kind::kShare);

/// Hosts by name or pattern, one or a list.
Form hosts_form() {
  return Form::either({Form::of(Kind::kText), Form::list(Form::of(Kind::kText))});
}

Key until_key() { return {"until", Form::word({"end"}), "again and again until the run's end"}; }

Key repeats_key(const char* name, const char* about) {
  return {name, Form::integer(1, kMaxRepeats), about};
}

Form with_start(std::vector<Key> keys) {
  keys.push_back({"at", Form::of(Kind::kTime), "when it starts"});
  keys.push_back({"routing", Form::word({"srv6", "ecmp", "fare"}), "where not the fabric's"});
  keys.push_back({"transport", Form::word({"mrc", "roce"}), "where not the scenario's"});
  return Form::map(std::move(keys));
}

Form with_qps(std::vector<Key> keys) {
  keys.push_back({"qps", Form::integer(1, kMaxQps), "queue pairs of each connection"});
  return with_start(std::move(keys));
}

Form collective_form() {
  return with_qps({{"hosts", hosts_form(), "its ranks", Key::kRequired},
                   {"size", kBytes, "as nccl-tests mean it; a multiple of 4B", Key::kRequired},
                   until_key(),
                   repeats_key("iterations", "how often, in place of until")});
}

Form flow_form() {
  return Form::map({{"from", hosts_form(), "one host", Key::kRequired},
                    {"to", hosts_form(), "another host", Key::kRequired}});
}

std::vector<Key> all_kinds() {
  std::vector<Key> kinds;
  for (const CollectiveKind kind :
       {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
        CollectiveKind::kAllToAll, CollectiveKind::kSendRecv}) {
    kinds.push_back({std::string(name_of(kind)), collective_form(), "a collective of nccl-tests"});
  }
  kinds.push_back(
      {"permutation",
       with_qps(
           {{"hosts", hosts_form(), "senders, each to the host `shift` further on", Key::kRequired},
            {"load", kShare, "of the line rate", Key::kRequired},
            {"message", kBytes, "size of each", Key::kRequired},
            {"shift", Form::integer(1, INT32_MAX).elsewhere(), "below the number of hosts"}}),
       "each host sends to another, at a load"});
  kinds.push_back({"write",
                   with_qps({{"from", hosts_form(), "one host", Key::kRequired},
                             {"to", hosts_form(), "another host", Key::kRequired},
                             {"size", kBytes, "of each write", Key::kRequired},
                             repeats_key("count", "writes, at least one for each queue pair"),
                             until_key(),
                             {"depth", Form::integer(1, kMaxRepeats), "writes under way at once"}}),
                   "RDMA writes from one host to another"});
  kinds.push_back({"incast",
                   with_qps({{"from", hosts_form(), "the senders", Key::kRequired},
                             {"to", hosts_form(), "the receiver", Key::kRequired},
                             {"victim", flow_form(), "a flow beside it"},
                             {"load", kShare, "of each sender's line rate", Key::kRequired},
                             {"message", kBytes, "size of each", Key::kRequired}}),
                   "many hosts send to one"});
  kinds.push_back({"ping_pong",
                   with_start({{"from", hosts_form(), "one host", Key::kRequired},
                               {"to", hosts_form(), "another host", Key::kRequired},
                               {"size", kBytes, "of each write", Key::kRequired},
                               repeats_key("count", "rounds"),
                               until_key()}),
                   "two hosts write to each other in turns"});
  return kinds;
}

}  // namespace

const std::vector<ValueForm::Key>& workload_kinds() {
  static const std::vector<Key> kKinds = all_kinds();
  return kKinds;
}

}  // namespace mrclab::endpoint
