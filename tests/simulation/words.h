// Messages in the protocol's words, for traces.
#pragma once

#include <string>

#include "protocol/ledger.h"
#include "protocol/messages.h"

namespace ballast::simulation {

std::string words(const Message& message);
std::string words(LeadNumber number);
std::string words(SlotRange range);
std::string words(SnapshotId id);
std::string words(Split split);
std::string words(const LedgerChange& change);
std::string words(const std::vector<SlotRange>& ranges);

// Whether a message only says that someone lives or what is known already: left out of transcripts.
bool is_sign_of_life(const Message& message);

}  // namespace ballast::simulation
