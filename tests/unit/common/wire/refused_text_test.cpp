// Text that is too long or cannot be printed.
#include "tests/unit/common/wire/refusal.h"

namespace ballast {
namespace {

// Every string that is not free text, by the field's name in refusals.
template <typename Check>
void for_each_string(Check check) {
  check("LaneHello.spec_digest", [](auto text) { return changed<LaneHello>([&](auto& m) { m.spec_digest = text; }); });
  check("LaneHello.layout_digest",
        [](auto text) { return changed<LaneHello>([&](auto& m) { m.layout_digest = text; }); });
  check("WorkerHello.name", [](auto text) { return changed<WorkerHello>([&](auto& m) { m.name = text; }); });
  check("Heartbeat.fingerprint", [](auto text) { return changed<Heartbeat>([&](auto& m) { m.fingerprint = text; }); });
  check("Heartbeat.data_digest", [](auto text) { return changed<Heartbeat>([&](auto& m) { m.data_digest = text; }); });
  check("WorkerWelcome.spec_digest",
        [](auto text) { return changed<WorkerWelcome>([&](auto& m) { m.spec_digest = text; }); });
  check("WorkerWelcome.layout_digest",
        [](auto text) { return changed<WorkerWelcome>([&](auto& m) { m.layout_digest = text; }); });
  check("WorkerWelcome.addresses.address",
        [](auto text) { return changed<WorkerWelcome>([&](auto& m) { m.addresses[0].address = text; }); });
  check("ShardHello.spec_digest",
        [](auto text) { return changed<ShardHello>([&](auto& m) { m.spec_digest = text; }); });
  check("ShardHello.layout_digest",
        [](auto text) { return changed<ShardHello>([&](auto& m) { m.layout_digest = text; }); });
  check("ShardHello.initial_weights",
        [](auto text) { return changed<ShardHello>([&](auto& m) { m.initial_weights = text; }); });
  check("ShardHello.address", [](auto text) { return changed<ShardHello>([&](auto& m) { m.address = text; }); });
  check("Status.sessions.name", [](auto text) { return changed<Status>([&](auto& m) { m.sessions[0].name = text; }); });
  check("Status.sessions.fingerprint",
        [](auto text) { return changed<Status>([&](auto& m) { m.sessions[0].fingerprint = text; }); });
  check("Status.data.value", [](auto text) { return changed<Status>([&](auto& m) { m.data.value = text; }); });
}
TEST_CASE("strings are bounded and printable") {
  for_each_string([](const char* field, auto with) {
    check_out_of_range(with(std::string(4097, 'x')), {field, "4097", "4096"});
    check_message_refused(with(std::string("two\nlines")), RefusalCode::malformed, {field, "0x0a at byte 3"});
    check_message_refused(with(std::string("nul\0", 4)), RefusalCode::malformed, {field, "0x00 at byte 3"});
    check_message_refused(with(std::string("caf\xE9")), RefusalCode::malformed,
                          {field, "invalid UTF-8 0xe9 at byte 3"});
  });
}

TEST_CASE("a job is text of at most 1 MiB") {
  check_out_of_range(changed<WorkerWelcome>([](auto& welcome) { welcome.job.assign((1U << 20U) + 1, 'j'); }),
                     {"WorkerWelcome.job", "1048577", "1048576"});
  check_message_refused(changed<WorkerWelcome>([](auto& welcome) { welcome.job = "job: a\x1b\n"; }),
                        RefusalCode::malformed, {"WorkerWelcome.job", "0x1b at byte 6"});
  check_message_refused(changed<Refused>([](auto& refused) { refused.job = "job: a\x1b\n"; }), RefusalCode::malformed,
                        {"Refused.job", "0x1b at byte 6"});
}

TEST_CASE("free text is checked by the receiver too") {
  const auto check = [](const char* field, schema::Body kind, auto create) {
    flatbuffers::FlatBufferBuilder builder;
    const auto body = create(builder, builder.CreateString("one\ntwo"));
    schema::FinishEnvelopeBuffer(builder, schema::CreateEnvelope(builder, kProtocolVersion, kind, body.Union()));
    check_refused(decode(bytes_of(builder), 0, false), RefusalCode::malformed, {field, "0x0a at byte 3"});
  };
  using Builder = flatbuffers::FlatBufferBuilder;
  using Text = flatbuffers::Offset<flatbuffers::String>;
  check("Refused.text", schema::Body::Refused, [](Builder& builder, Text text) {
    return schema::CreateRefused(builder, schema::RefusalCode::too_many, text);
  });
  check("Heartbeat.waits_for", schema::Body::Heartbeat, [](Builder& builder, Text text) {
    schema::HeartbeatBuilder beat(builder);
    beat.add_waits_for(text);
    return beat.Finish();
  });
  check("Goodbye.reason", schema::Body::Goodbye,
        [](Builder& builder, Text text) { return schema::CreateGoodbye(builder, text); });
  check("Finish.failure", schema::Body::JobFinish, [](Builder& builder, Text text) {
    return schema::CreateJobFinish(builder, 1, 2, schema::Ending::failed, text);
  });
  check("Status.job", schema::Body::Status,
        [](Builder& builder, Text text) { return schema::CreateStatus(builder, text); });
  check("Status.failure", schema::Body::Status,
        [](Builder& builder, Text text) { return schema::CreateStatus(builder, 0, schema::JobPhase::training, text); });
  check("Status.waits_for", schema::Body::Status, [](Builder& builder, Text text) {
    return schema::CreateStatus(builder, 0, schema::JobPhase::training, 0, text);
  });
  check("Status.trouble", schema::Body::Status, [](Builder& builder, Text text) {
    return schema::CreateStatus(builder, 0, schema::JobPhase::training, 0, 0, text);
  });
  check("Status.bits_trouble", schema::Body::Status, [](Builder& builder, Text text) {
    return schema::CreateStatus(builder, 0, schema::JobPhase::training, 0, 0, 0, text);
  });
  check("Status.sessions.refusal", schema::Body::Status, [](Builder& builder, Text text) {
    const auto session = schema::CreateSessionStatus(builder, 1, 0, true, 0, 0, 0, text);
    const auto sessions = builder.CreateVector(&session, 1);
    schema::StatusBuilder status(builder);
    status.add_sessions(sessions);
    return status.Finish();
  });
  check("Status.mode", schema::Body::Status, [](Builder& builder, Text text) {
    schema::StatusBuilder status(builder);
    status.add_mode(text);
    return status.Finish();
  });
  check("LaneReport.failure", schema::Body::LaneReport, [](Builder& builder, Text text) {
    schema::LaneReportBuilder report(builder);
    report.add_failure(text);
    return report.Finish();
  });
  check("LaneReport.trouble", schema::Body::LaneReport, [](Builder& builder, Text text) {
    schema::LaneReportBuilder report(builder);
    report.add_trouble(text);
    return report.Finish();
  });
}

}  // namespace
}  // namespace ballast
