// What a life's faults and its user are about to do: plain data, carried out by the cluster.
#pragma once

#include <cstdint>
#include <variant>

#include "tests/simulation/judge/shown.h"
#include "tests/simulation/life.h"

namespace ballast::simulation {

// What is meant for one run of the cluster, by the number of its first process.
using RunOfCluster = std::size_t;

// ---- workers and links
struct WorkerJoins {
  LifeWorker worker;
};
struct WorkerCrashes {};
struct WorkerStands {};
struct WorkerLeaves {};
// It lives, and what it computes does not end.
struct WorkerHangs {};
// It lives and computes, and sends no contribution any more.
struct WorkerWithholds {};
struct LinkCut {};
struct LinkCutOneWay {};
struct LinkSlows {};
struct StrangerSpeaks {};
struct RootsPushed {};
struct FalseResults {};

// ---- shards and the lead
struct ShardStands {};
struct LeadStands {};
struct ShardDies {};
struct ShardFuse {};
struct LeadFuse {};
struct ShardReturns {
  std::uint32_t shard = 0;
  Incarnation last = 0;  // its newest life, which is over
};
// Its server is told to end.
struct ServerTold {};
// By then it is gone.
struct ServerGone {
  std::uint32_t shard = 0;
  Incarnation life = 0;
};
// Its server, which had come with an empty disk, is started with its own.
struct VolumeReturns {
  std::uint32_t shard = 0;
  RunOfCluster run = 0;
};
// A shard's server crashes, and its disk is gone with it.
struct DiskLost {};
// Another server says that it is a shard.
struct SecondStarts {};
struct SecondEnds {
  std::uint32_t shard = 0;
  RunOfCluster run = 0;
};
// The user ends a server that has read another file than the job's.
struct OtherFileNoticed {
  LaneLife lane;
  RunOfCluster run = 0;
};

// ---- the user
struct UserStops {};
// As soon as the job is about to finish.
struct UserStopsLate {};
struct UserPauses {};
struct UserEndsPause {
  bool waits_for_it = false;
};
struct UserLetsGoOn {};
struct UserResumes {};

using FaultEvent = std::variant<WorkerJoins, WorkerCrashes, WorkerStands, WorkerLeaves, WorkerHangs, WorkerWithholds,
                                LinkCut, LinkCutOneWay, LinkSlows, StrangerSpeaks, RootsPushed, FalseResults,
                                ShardStands, LeadStands, ShardDies, ShardFuse, LeadFuse, ShardReturns, ServerTold,
                                ServerGone, VolumeReturns, DiskLost, SecondStarts, SecondEnds, OtherFileNoticed,
                                UserStops, UserStopsLate, UserPauses, UserEndsPause, UserLetsGoOn, UserResumes>;

}  // namespace ballast::simulation
