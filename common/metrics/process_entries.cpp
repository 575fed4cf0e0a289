#include "common/metrics/metric_entries.h"

namespace ballast {

const std::vector<MetricEntry>& process_entries() {
  static const std::vector<MetricEntry> entries = {
      {"ballast_process_info", kGauge, "1", {"role", "index", "job"}, "1; says which process of which job this is."},
      {"ballast_metrics_dropped_series_total",
       kCounter,
       "series",
       {},
       "Series that were not exported because a metric had too many of them."},

      {"ballast_turn_seconds",
       kHistogram,
       "seconds",
       {"loop"},
       "Time of one turn of a loop (worker, lead, lane N), from when it woke until it waits again: for so long it "
       "answered nobody."},
      {"ballast_refused_handshakes_total",
       kCounter,
       "handshakes",
       {"loop", "reason"},
       "Connections to a loop (lead, lane N) that were refused before they said anything, by reason: unknown_key, "
       "other_server (who connects expects another server's key), unencrypted (one end has keys and the other none), "
       "malformed, broken_off (also a port scan, or a probe of the port), barred_key (refused for a while: with "
       "it messages came again and again that do not end)."},
      {"ballast_turn_longest_seconds", kGauge, "seconds", {"loop"}, "The longest turn of a loop since it began."},
      {"ballast_process_processor_seconds_total",
       kCounter,
       "seconds",
       {},
       "Processor time of the process, of all its threads together."},
      {"ballast_process_quota_periods_total",
       kCounter,
       "periods",
       {},
       "Periods in which the process's control group, or one above it, had work and a processor quota; of the group "
       "that was held back for longest. 0 where none has a quota, or the system does not tell."},
      {"ballast_process_throttled_periods_total",
       kCounter,
       "periods",
       {},
       "Of these periods, those in which the group had used up its quota before they were over."},
      {"ballast_process_throttled_seconds_total",
       kCounter,
       "seconds",
       {},
       "Time for which processors held back threads of that group for its quota; of all processors together."},
      {"ballast_machine_steal_seconds_total",
       kCounter,
       "seconds",
       {},
       "Time that the hypervisor gave to others while this machine had work; of all its processors together. 0 where "
       "the system does not tell."},
  };
  return entries;
}

}  // namespace ballast
