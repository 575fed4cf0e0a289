#include <chrono>
#include <thread>
#include <variant>

#include "common/net/peer.h"
#include "tests/cluster/malformed/cases.h"

namespace ballast::malformed {

namespace {

constexpr ChunkId kNoSuchChunk = 999'999;
constexpr int kHellos = 100;
constexpr std::size_t kFrameOfALane = 1;  // MiB at most, but for some words: a chunk
constexpr std::chrono::milliseconds kBetweenHellos{50};

std::string text(std::uint64_t value) { return std::to_string(value); }

LaneHello hello(const std::string& spec_digest, const std::string& layout) {
  LaneHello hello;
  hello.name = "malformed";
  hello.spec_digest = spec_digest;
  hello.layout_digest = layout;
  return hello;
}

// All the cases of one lane, from a session that has said hello.
class LaneCases {
 public:
  LaneCases(Judge& judge, zmq::context_t& context, const Job& job, const LaneTarget& lane)
      : judge_(judge),
        context_(context),
        job_(job),
        lane_(lane),
        probe_(context, lane.address, session_routing_id(77)) {}

  void run() {
    strangers();
    const auto answer = greet();
    const auto* welcome = std::get_if<LaneWelcome>(&answer);
    const auto* refused = std::get_if<Refused>(&answer);
    judge_.expect(lane_.name + ": hello", welcome != nullptr,
                  refused != nullptr ? "refused: " + refused->text : "no welcome came");
    if (welcome == nullptr) {
      return;
    }
    timeline_ = welcome->timeline;
    damaged_headers(judge_, probe_, lane_.name);
    targets();
    payloads();
    ranges();
    timelines();
  }

 private:
  // A session that takes no calls is welcome while there is room for its credit: says hello until then, as workers do.
  Message greet() {
    Message answer;
    for (int i = 0; i < kHellos; ++i) {
      probe_.send(hello(job_.spec_digest, job_.layout_digest));
      answer = probe_.any().value_or(Message{});
      const auto* refused = std::get_if<Refused>(&answer);
      if (refused == nullptr || refused->code != RefusalCode::too_many) {
        break;
      }
      std::this_thread::sleep_for(kBetweenHellos);
    }
    return answer;
  }

  void refused(const std::string& name, const Frames& frames, RefusalCode code, const std::vector<std::string>& words) {
    judge_.refused(lane_.name + ": " + name, probe_, frames, code, words);
  }
  void refused(const std::string& name, const Message& message, RefusalCode code,
               const std::vector<std::string>& words) {
    refused(name, Frames{encoded(message)}, code, words);
  }

  // Good but for what the caller changes. Step 0 is long past: it would be a duplicate.
  [[nodiscard]] Push push(ChunkId chunk) const { return {timeline_, 0, chunk, {0, 1}, false, kNoSlot, {}}; }
  [[nodiscard]] static Frames with_payload(const Push& push, std::uint64_t bytes) {
    return {encoded(push), Bytes(bytes)};
  }

  void strangers() {
    Probe nobody(context_, lane_.address, "nobody");
    judge_.refused(lane_.name + ": a routing id that nobody has", nobody, LaneHello{}, RefusalCode::malformed,
                   {"routing id"});
    Probe unknown(context_, lane_.address, session_routing_id(78));
    judge_.refused(lane_.name + ": a pull before the hello", unknown, Pull{1, 0, {0}}, RefusalCode::unknown_session,
                   {"hello"});
    Probe other(context_, lane_.address, session_routing_id(79));
    judge_.refused(lane_.name + ": a hello of another job", other, hello(std::string(64, 'a'), job_.layout_digest),
                   RefusalCode::wrong_job, {job_.spec_digest, std::string(64, 'a')});
    judge_.refused(lane_.name + ": a hello of another layout", other, hello(job_.spec_digest, std::string(64, 'b')),
                   RefusalCode::wrong_job, {job_.layout_digest, std::string(64, 'b')});
  }

  void targets() {
    refused("a status request", StatusRequest{}, RefusalCode::wrong_target, {"hellos, pulls, offers and pushes"});
    refused("a pull of no chunk of the model", Pull{timeline_, 0, {kNoSuchChunk}}, RefusalCode::wrong_target,
            {"chunk " + text(kNoSuchChunk)});
    refused("a pull of one chunk again and again", Pull{timeline_, 0, std::vector<ChunkId>(65'536, 0)},
            RefusalCode::out_of_range, {"Pull.chunks[1]", "more than the entry before"});
    refused("a push to no chunk of the model", with_payload(push(kNoSuchChunk), 64), RefusalCode::wrong_target,
            {"chunk " + text(kNoSuchChunk)});
    for (const auto& chunk : lane_.other) {
      refused("a pull of another lane's chunk", Pull{timeline_, 0, {chunk.id}}, RefusalCode::wrong_target,
              {"chunk " + text(chunk.id), "does not live on this lane"});
      refused("a push to another lane's chunk", with_payload(push(chunk.id), chunk.bytes()), RefusalCode::wrong_target,
              {"chunk " + text(chunk.id), "does not live on this lane"});
    }
  }

  void payloads() {
    refused("a pull with a payload", Frames{encoded(Pull{timeline_, 0, {}}), Bytes(4)}, RefusalCode::malformed,
            {"must have none"});
    for (const auto& chunk : lane_.own) {
      refused("a push without its payload", Frames{encoded(push(chunk.id))}, RefusalCode::malformed,
              {"without its payload"});
      for (const std::uint64_t bytes : {std::uint64_t{0}, chunk.bytes() - 2, kMaxChunkBytes + 4}) {
        refused("a payload of " + text(bytes) + " bytes", with_payload(push(chunk.id), bytes),
                RefusalCode::out_of_range, {text(bytes), "multiple of 4"});
      }
      for (const auto bytes : {chunk.bytes() - 4, chunk.bytes() + 4}) {
        if (bytes > 0 && bytes <= kMaxChunkBytes) {
          refused("a payload of " + text(bytes) + " bytes", with_payload(push(chunk.id), bytes),
                  RefusalCode::out_of_range, {"chunk " + text(chunk.id), text(chunk.bytes()), text(bytes)});
        }
      }
    }
  }

  void ranges() {
    const auto steps = job_.steps.steps;
    for (const auto& chunk : lane_.own) {
      if (!averages_weights(job_.spec.training)) {
        refused("an average that the job does not keep", Pull{timeline_, 0, {chunk.id}, {}, true},
                RefusalCode::out_of_range, {"no averages"});
      }
      refused("a version that will never be", Pull{timeline_, steps + 1, {chunk.id}}, RefusalCode::out_of_range,
              {text(steps + 1), text(steps)});
      for (const auto step : {steps, steps + 1000}) {
        auto late = push(chunk.id);
        late.step = step;
        refused("a step that cannot be", with_payload(late, chunk.bytes()), RefusalCode::out_of_range,
                {"step " + text(step), "of " + text(steps)});
      }
      for (const Node node : {Node{1, 3}, Node{0, 3}, Node{0, kMaxSlots}}) {
        auto crooked = push(chunk.id);
        crooked.node = node;
        refused("a node that is none", with_payload(crooked, chunk.bytes()), RefusalCode::out_of_range,
                {"[" + text(node.begin) + ", " + text(node.end) + ")", "no node"});
      }
      for (const Node node : {Node{5, 5}, Node{6, 5}, Node{0, kMaxSlots + 1}}) {
        auto crooked = push(chunk.id);
        crooked.node = node;
        refused("a node that is no range", with_payload(crooked, chunk.bytes()), RefusalCode::out_of_range,
                {"Push.node", "[" + text(node.begin) + ", " + text(node.end) + ")"});
      }
    }
  }

  void timelines() {
    for (const auto& chunk : lane_.own) {
      auto future = push(chunk.id);
      future.timeline = timeline_ + 1;
      refused("a push of a timeline to come", with_payload(future, chunk.bytes()), RefusalCode::not_serving,
              {"timeline", text(timeline_ + 1)});
      refused("a pull of a timeline to come", Pull{timeline_ + 1, 0, {chunk.id}}, RefusalCode::not_serving,
              {"timeline", text(timeline_ + 1)});
      auto past = push(chunk.id);
      past.timeline = timeline_ - 1;
      probe_.send(with_payload(past, chunk.bytes()));
      const auto stale = probe_.answer<Stale>();
      judge_.expect(lane_.name + ": a push of an older timeline", stale && stale->timeline == timeline_,
                    "it was not called stale");
    }
  }

  Judge& judge_;
  zmq::context_t& context_;
  const Job& job_;
  const LaneTarget& lane_;
  Probe probe_;
  Timeline timeline_ = 0;
};

}  // namespace

void lane_cases(Judge& judge, zmq::context_t& context, const Job& job, const LaneTarget& lane) {
  LaneCases(judge, context, job, lane).run();
  oversize_frames(judge, context, lane, kFrameOfALane + 1);
}

}  // namespace ballast::malformed
