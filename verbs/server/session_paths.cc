// What libmrc's controller asks for: profiles, events of entropy values, probes of paths.

#include "verbs/server/host_programs.h"
#include "verbs/server/session_reply.h"
#include "verbs/server/verbs_session.h"

namespace mrclab::verbs {
namespace {

template <class T>
bool read_body(std::span<const uint8_t> request, T& body) {
  if (request.size() < sizeof(RequestHeader) + sizeof body) return false;
  std::memcpy(&body, request.data() + sizeof(RequestHeader), sizeof body);
  return true;
}

}  // namespace

int VerbsSession::dispatch_controller(Op op, std::span<const uint8_t> request, Reply& reply) {
  Controller& controller = programs_.controller();
  /// Reads a Request, calls, and puts the Answer that came of it.
  const auto serve = [&](auto ask, auto answer, auto call) {
    if (!read_body(request, ask)) return EPROTO;
    const int error = call(ask, answer);
    if (error == 0) reply.put(answer);
    return error;
  };
  switch (op) {
    case Op::kQueryProfile:
      return serve(ProfileRequest{}, ProfileReply{}, [&](auto& ask, auto& answer) {
        answer.profile = ask.profile;
        return controller.profiles().query(answer.profile);
      });
    case Op::kModifyProfile: {
      ProfileRequest ask{};
      return read_body(request, ask) ? controller.profiles().modify(ask.profile) : EPROTO;
    }
    case Op::kQueryControl: reply.put(controller.profiles().limits()); return 0;
    case Op::kCreatePathEvents: {
      HandleReply answer{};
      const int error = controller.create_events(controller_number_, answer);
      if (error == 0) reply.put(answer);
      return error;
    }
    case Op::kDestroyPathEvents: {
      HandleRequest ask{};
      return read_body(request, ask) ? controller.destroy_events(controller_number_, ask.handle)
                                     : EPROTO;
    }
    case Op::kPollPathEvent:
      return serve(HandleRequest{}, PathEventReply{}, [&](auto& ask, auto& answer) {
        return controller.poll_event(controller_number_, ask.handle, answer);
      });
    case Op::kProbePaths:
      return serve(ProbeRequest{}, ProbeStartedReply{}, [&](auto& ask, auto& answer) {
        return controller.probe(controller_number_, ask, answer);
      });
    case Op::kPollProbes:
      return serve(PollProbesRequest{}, ProbeReply{}, [&](auto& ask, auto& answer) {
        return controller.poll_probes(controller_number_, ask, answer);
      });
    default: return ENOTSUP;
  }
}

}  // namespace mrclab::verbs
