#include "protocol/lane/lane_contact.h"

#include <doctest/doctest.h>

using namespace ballast;

TEST_CASE("a lead that was heard of and is silent is away, and then given up") {
  LeadContact lead(1'000, 300);
  lead.tick(100);
  lead.heard();
  lead.tick(200);
  CHECK(lead.silence() == 0);
  lead.tick(500);
  CHECK_FALSE(lead.is_away());
  lead.tick(501);
  CHECK(lead.is_away());
  lead.tick(900);
  lead.tick(1'200);
  CHECK_FALSE(lead.is_given_up());
  lead.tick(1'201);
  CHECK(lead.is_given_up());
  lead.heard();
  CHECK_FALSE(lead.is_away());
  lead.tick(1'300);
  CHECK_FALSE(lead.is_given_up());
}

TEST_CASE("a lead that was never heard of is not waited for, nor is it away") {
  LeadContact lead(1'000, 300);
  for (const Micros now : {400, 800, 1'200, 1'600}) {
    lead.tick(now);
  }
  CHECK_FALSE(lead.is_away());
  CHECK_FALSE(lead.is_given_up());
}

TEST_CASE("time in which the lane slept is not the lead's silence") {
  LeadContact lead(1'000, 300);
  lead.tick(100);
  lead.heard();
  lead.tick(200);
  lead.tick(5'000);
  CHECK(lead.silence() == 0);
}

TEST_CASE("a lead is away after half its patience at the latest") {
  LeadContact lead(400, 300);
  lead.tick(100);
  lead.heard();
  lead.tick(101);
  lead.tick(301);
  CHECK_FALSE(lead.is_away());
  lead.tick(302);
  CHECK(lead.is_away());
}
