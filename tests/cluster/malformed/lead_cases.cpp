#include "common/net/peer.h"
#include "tests/cluster/malformed/cases.h"

namespace ballast::malformed {

namespace {

constexpr std::size_t kFrameOfTheLead = 4;  // MiB at most

void shards_that_do_not_fit(Judge& judge, zmq::context_t& context, const Job& job, const Target& lead) {
  const LaneId id{0, 0};
  constexpr Incarnation kIncarnation = 12345;
  Probe shard(context, lead.address, lane_routing_id(id, kIncarnation));
  const auto& cluster = job.spec.cluster;
  ShardHello hello{id,
                   cluster.shards,
                   cluster.lanes,
                   kIncarnation,
                   {1, 1},
                   std::string(64, 'a'),
                   job.layout_digest,
                   "",
                   "tcp://x:1",
                   0,
                   0};
  judge.refused(lead.name + ": a shard of another job", shard, hello, RefusalCode::wrong_job, {"another job file"});
  hello.spec_digest = job.spec_digest;
  hello.shards += 1;
  judge.refused(lead.name + ": a shard of a larger cluster", shard, hello, RefusalCode::wrong_job,
                {std::to_string(hello.shards) + " shards", std::to_string(cluster.shards)});
  hello.incarnation = 0;
  judge.refused(lead.name + ": a shard without an incarnation", shard, hello, RefusalCode::out_of_range,
                {"ShardHello.incarnation"});
  hello.incarnation = kIncarnation;
  hello.database = {};
  judge.refused(lead.name + ": a shard without a database", shard, hello, RefusalCode::out_of_range,
                {"ShardHello.database"});
}

// Whoever is the furthest decides which timeline comes next: nobody may name the last one that there is.
void timelines_that_never_were(Judge& judge, zmq::context_t& context, const Job& job, const Target& lead) {
  const LaneId id{1, 0};
  constexpr Incarnation kIncarnation = 12346;
  Probe shard(context, lead.address, lane_routing_id(id, kIncarnation));
  ShardHello hello{id,
                   job.spec.cluster.shards,
                   job.spec.cluster.lanes,
                   kIncarnation,
                   {1, 1},
                   job.spec_digest,
                   job.layout_digest,
                   "",
                   "tcp://x:1",
                   ~Timeline{0},
                   0};
  judge.refused(lead.name + ": a shard of timeline 2^64 - 1", shard, hello, RefusalCode::out_of_range,
                {"ShardHello.timeline", "18446744073709551615", "below 2^48"});
  hello.timeline = (Timeline{1} << 48U) - 1;
  judge.refused(lead.name + ": a shard of timeline 2^48 - 1", shard, hello, RefusalCode::not_taken,
                {"281474976710655", "ballast restore"});
  hello.timeline = 1;
  hello.open_step = job.steps.steps + 1;
  judge.refused(lead.name + ": a shard beyond the job's end", shard, hello, RefusalCode::out_of_range,
                {std::to_string(job.steps.steps)});
}

void strangers(Judge& judge, zmq::context_t& context, const Target& lead) {
  Probe nobody(context, lead.address, "nobody");
  judge.refused(lead.name + ": a routing id that nobody has", nobody, WorkerHello{"x"}, RefusalCode::malformed,
                {"workers, shards and status clients"});
  Probe unknown(context, lead.address, session_routing_id(88));
  judge.refused(lead.name + ": a heartbeat before the hello", unknown, Heartbeat{}, RefusalCode::unknown_session,
                {"hello"});
  judge.refused(lead.name + ": a name of two lines", unknown, WorkerHello{"two\nlines"}, RefusalCode::malformed,
                {"WorkerHello.name"});
  judge.refused(lead.name + ": a payload", unknown, Frames{encoded(WorkerHello{"x"}), Bytes(64)},
                RefusalCode::malformed, {"one header frame"});
  Probe client(context, lead.address, client_routing_id(99));
  judge.refused(lead.name + ": a status client that says hello", client, WorkerHello{"x"}, RefusalCode::wrong_target,
                {"status"});
}

}  // namespace

void lead_cases(Judge& judge, zmq::context_t& context, const Job& job, const Target& lead) {
  strangers(judge, context, lead);
  shards_that_do_not_fit(judge, context, job, lead);
  timelines_that_never_were(judge, context, job, lead);
  Probe session(context, lead.address, session_routing_id(89));
  damaged_headers(judge, session, lead.name);
  oversize_frames(judge, context, lead, kFrameOfTheLead + 1);
}

}  // namespace ballast::malformed
