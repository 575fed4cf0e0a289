// The compiler is asked about each class's list of its state (protocol/state_list.h): here, once, and not in each file
// that uses the class.
#include "protocol/covered_items.h"
#include "protocol/deadline.h"
#include "protocol/lane/call_accounts.h"
#include "protocol/lane/call_book.h"
#include "protocol/lane/factor_plan.h"
#include "protocol/lane/item_applier.h"
#include "protocol/lane/lane.h"
#include "protocol/lane/lane_applier.h"
#include "protocol/lane/lane_contact.h"
#include "protocol/lane/lane_sessions.h"
#include "protocol/lane/lane_snapshots.h"
#include "protocol/lane/lane_statistics.h"
#include "protocol/lane/payers.h"
#include "protocol/lane/pending_items.h"
#include "protocol/lane/round.h"
#include "protocol/lane/round_applier.h"
#include "protocol/lead/barred_sessions.h"
#include "protocol/lead/copy_course.h"
#include "protocol/lead/course.h"
#include "protocol/lead/evaluation.h"
#include "protocol/lead/evaluations.h"
#include "protocol/lead/item_course.h"
#include "protocol/lead/item_grants.h"
#include "protocol/lead/item_progress.h"
#include "protocol/lead/lead.h"
#include "protocol/lead/ledger_book.h"
#include "protocol/lead/open_step.h"
#include "protocol/lead/pace.h"
#include "protocol/lead/pauses.h"
#include "protocol/lead/present_lives.h"
#include "protocol/lead/resuming_shards.h"
#include "protocol/lead/round_course.h"
#include "protocol/lead/round_progress.h"
#include "protocol/lead/session_roster.h"
#include "protocol/lead/shard_roster.h"
#include "protocol/lead/slot_holder.h"
#include "protocol/lead/slot_holders.h"
#include "protocol/lead/slot_session.h"
#include "protocol/lead/slot_shares.h"
#include "protocol/lead/snapshot_schedule.h"
#include "protocol/lead/standing_ranges.h"
#include "protocol/lead/statistics_log.h"
#include "protocol/lead/step_decisions.h"
#include "protocol/lead/step_planner.h"
#include "protocol/lead/step_share.h"
#include "protocol/lead/suspicion.h"
#include "protocol/lead/torn_versions.h"
#include "protocol/lead/typical_pace.h"
#include "protocol/lead/work_times.h"
#include "protocol/slot_set.h"
#include "protocol/state_list.h"
#include "protocol/worker/buffer_shortage.h"
#include "protocol/worker/item_work.h"
#include "protocol/worker/lane_link.h"
#include "protocol/worker/lane_links.h"
#include "protocol/worker/lead_watch.h"
#include "protocol/worker/link_rate.h"
#include "protocol/worker/ordered_evaluation.h"
#include "protocol/worker/outbox.h"
#include "protocol/worker/pulled_weights.h"
#include "protocol/worker/round_work.h"
#include "protocol/worker/slot_clock.h"
#include "protocol/worker/slot_list.h"
#include "protocol/worker/step_clock.h"
#include "protocol/worker/work_in_hand.h"
#include "protocol/worker/worker.h"
#include "protocol/worker/worker_plan.h"
#include "protocol/worker/worker_target.h"

namespace ballast {

static_assert(lists_all_members<CoveredItems>());
static_assert(lists_all_members<SharedItems>());
static_assert(lists_all_members<LearntDeadline>());
static_assert(lists_all_members<SlotSet>());
static_assert(lists_all_members<CallAccounts>());
static_assert(lists_all_members<AheadTurns>());
static_assert(lists_all_members<CallBook>());
static_assert(lists_all_members<Payers>());
static_assert(lists_all_members<FactorPlan>());
static_assert(lists_all_members<ItemApplier>());
static_assert(lists_all_members<Lane>());
static_assert(lists_all_members<LaneApplier>());
static_assert(lists_all_members<LeadContact>());
static_assert(lists_all_members<ChunkPlaces>());
static_assert(lists_all_members<OpenPulls>());
static_assert(lists_all_members<LaneSessions>());
static_assert(lists_all_members<LaneSnapshots>());
static_assert(lists_all_members<WeightsReaders>());
static_assert(lists_all_members<LaneStatistics>());
static_assert(lists_all_members<ItemUpdate::Sender>());
static_assert(lists_all_members<ItemUpdate>());
static_assert(lists_all_members<PendingItems>());
static_assert(lists_all_members<Round>());
static_assert(lists_all_members<RoundApplier>());
static_assert(lists_all_members<BarredSessions>());
static_assert(lists_all_members<CopyCourse>());
static_assert(lists_all_members<Course>());
static_assert(lists_all_members<EvaluationBoard>());
static_assert(lists_all_members<Evaluations>());
static_assert(lists_all_members<ItemCourse>());
static_assert(lists_all_members<ItemGrants>());
static_assert(lists_all_members<ItemProgress>());
static_assert(lists_all_members<Lead>());
static_assert(lists_all_members<LedgerBook>());
static_assert(lists_all_members<PaceMeter>());
static_assert(lists_all_members<TrainingClock>());
static_assert(lists_all_members<JobPace>());
static_assert(lists_all_members<Pauses>());
static_assert(lists_all_members<PresentLives::Life>());
static_assert(lists_all_members<PresentLives>());
static_assert(lists_all_members<ResumingShards>());
static_assert(lists_all_members<RoundCourse>());
static_assert(lists_all_members<RoundProgress>());
static_assert(lists_all_members<LeadSession>());
static_assert(lists_all_members<SessionRoster>());
static_assert(lists_all_members<LeadLane>());
static_assert(lists_all_members<TurnedAway>());
static_assert(lists_all_members<ShardRoster>());
static_assert(lists_all_members<RecentMedian<15>>());
static_assert(lists_all_members<WantedSlots>());
static_assert(lists_all_members<OfferBook>());
static_assert(lists_all_members<OpenStep>());
static_assert(lists_all_members<SlotHolder>());
static_assert(lists_all_members<SlotHolders>());
static_assert(lists_all_members<SlotSession>());
static_assert(lists_all_members<SlotShares>());
static_assert(lists_all_members<StepShare>());
static_assert(lists_all_members<Suspicion>());
static_assert(lists_all_members<TornVersions>());
static_assert(lists_all_members<TypicalPace>());
static_assert(lists_all_members<SnapshotSchedule>());
static_assert(lists_all_members<StandingRanges>());
static_assert(lists_all_members<StatisticsLog>());
static_assert(lists_all_members<StepDecisions>());
static_assert(lists_all_members<StepPlanner>());
static_assert(lists_all_members<RecentTimes>());
static_assert(lists_all_members<WorkTimes>());
static_assert(lists_all_members<BufferShortage>());
static_assert(lists_all_members<ItemWork>());
static_assert(lists_all_members<LaneLink>());
static_assert(lists_all_members<LaneLinks>());
static_assert(lists_all_members<LeadWatch>());
static_assert(lists_all_members<LinkRate>());
static_assert(lists_all_members<OrderedEvaluation>());
static_assert(lists_all_members<Contribution>());
static_assert(lists_all_members<Outbox>());
static_assert(lists_all_members<PulledWeights::Staged>());
static_assert(lists_all_members<PulledWeights>());
static_assert(lists_all_members<RoundWork>());
static_assert(lists_all_members<SlotClock>());
static_assert(lists_all_members<SlotList>());
static_assert(lists_all_members<StepClock>());
static_assert(lists_all_members<WorkInHand>());
static_assert(lists_all_members<PayerIndex>());
static_assert(lists_all_members<WorkIndex>());
static_assert(lists_all_members<Worker>());
static_assert(lists_all_members<WorkerPlan>());
static_assert(lists_all_members<WeightsKey>());
static_assert(lists_all_members<WorkerTarget>());

}  // namespace ballast
