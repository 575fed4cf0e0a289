#include "insight/record_waits.h"

#include <algorithm>

namespace ballast::insight {

RecordWaits record_waits(const ProcessTrace& lane) {
  RecordWaits waits;
  for (const auto& record : lane.records) {
    if (record.kind != TraceKind::journal) {
      continue;
    }
    const auto all = record.second > record.first ? record.second - record.first : 0;
    const auto disk = record.third > 0 ? std::min(record.third, all) : all;
    const auto syncs = record.third > 0 ? std::min(record.fourth, disk) : all;
    ++waits.records;
    waits.all += static_cast<double>(all);
    waits.disk += static_cast<double>(disk);
    waits.syncs += static_cast<double>(syncs);
  }
  const auto records = static_cast<double>(std::max<std::size_t>(waits.records, 1));
  return {waits.records, waits.all / records, waits.disk / records, waits.syncs / records};
}

}  // namespace ballast::insight
