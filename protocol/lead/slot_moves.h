// What sessions that have nothing left take of the open step.
#pragma once

#include "protocol/ids.h"
#include "protocol/lead/slot_holders.h"
#include "protocol/slot_set.h"

namespace ballast {

// Each goes through the takers in order, gives slots to some, and counts them. `counted`: who is counted on, all takers
// among them. docs/protocol.md has the rules and why each is there.

// Each takes a fair part of what is left of `unclaimed`, until nothing is. Those that have taken are no takers any
// more.
void take_unclaimed(SlotHolders& holders, SlotHolders::Chosen& takers, SlotSet unclaimed,
                    const SlotHolders::Chosen& counted, Micros now);

// One of those that have given up again what they computed takes the slot that some lane wants next and nobody has who
// is counted on and not suspected, and computes it next. It would come to no end of its own: lanes call the lowest
// slots first, and none of those that it has while that one is missing. So it does not matter whether others have
// nothing left; nor, where only suspects are counted on, whether it is one of them. Each has its turn at it, for as
// long as such a share is given.
void take_wanted(SlotHolders& holders, const SlotHolders::Chosen& counted, Micros now);

// Each takes a tail from the share that ends last; what the first cannot gain by, no other can, if they are in the
// order of SlotHolders::idle(). Those that have taken are no takers any more. It keeps the ends in a heap: a take costs
// as many predictions as the share has slots left.
void take_tails(SlotHolders& holders, SlotHolders::Chosen& takers, const SlotHolders::Chosen& counted, Micros now);

// Each takes a slot in hand elsewhere, where it would arrive sooner from here: its holder goes on with it as well. A
// take costs a look at all that are counted on.
void copy_slots(SlotHolders& holders, const SlotHolders::Chosen& takers, const SlotHolders::Chosen& counted,
                Micros now);

// Each of the untried gets a slot as a trial, of those that would come last otherwise: whose it is computes it as well,
// so that nobody waits for it. A slot is tried by one of them in a step; those for whom none is left wait for the next
// step. It keeps the ends in a heap, as above.
void try_out(SlotHolders& holders, const SlotHolders::Chosen& untried, const SlotHolders::Chosen& counted, Micros now);

}  // namespace ballast
