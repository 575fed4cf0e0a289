// What a hostile worker does, each a command of ballast-hostile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "protocol/ids.h"

namespace ballast::hostile {

// Says hello to the lanes of shard 0 like a worker, and brings them this many whole roots of its own invention, all
// zeros, for one step after the other.
void push_roots(zmq::context_t& context, const std::string& lead, SessionId session, Step roots);

// Sends results of evaluations that nobody has asked it for, again and again.
void flood_results(zmq::context_t& context, const std::string& lead, double seconds);

// As who may evaluate: with the job's arithmetic and data, which it claims to have. Computes nothing; of the items that
// it is given it sends one wrong result each, and says so.
void answer_evaluations(zmq::context_t& context, const std::string& lead, const std::string& fingerprint,
                        const std::string& data_digest, double seconds);

// Contributes to the first item of the job that is open, claiming that it rests on a life of shard 0 that never was.
void push_mark(zmq::context_t& context, const std::string& lead, SessionId session);

// Says hello to the lead as so many workers, one after the other, each with another name of so many bytes and then
// silent. Prints how many were welcomed.
void say_names(zmq::context_t& context, const std::string& lead, std::size_t count, std::size_t bytes);

// Prints the bytes of a pull of version 0, for who sends them by a connection of its own making.
void print_pull();

// Sends messages that do not end to whom they say, again and again, until the time is over.
void send_parts(zmq::context_t& context, const std::string& address, const std::filesystem::path& key, bool says_hello,
                double seconds);

// Makes connections with the name of one that stands, sends as much by each as waits for a reader there, and ends it.
void send_by_twins(zmq::context_t& context, const std::string& address, const std::filesystem::path& key,
                   double seconds);

// Beside the job, until the time is over or it is told to end: so many sessions, whose keys are these in turn, that
// offer contributions to open steps and never bring what they are called for. Once they owe something, a third of them
// read nothing any more, a third read slowly, and a third are gone and come again as others. Prints what came of it.
void owe(zmq::context_t& context, const std::string& lead, std::size_t count, double seconds,
         const std::vector<std::string>& keys);

// Beside the job, until the time is over or it is told to end: sessions of one key that do all of the same thing when
// they are called, whatever the lane has thought of against it. Prints what came of it.
struct HabitOptions {
  std::string habit;  // one of those in habits.cpp
  std::size_t sessions = 0;
  double seconds = 0;
  std::filesystem::path key;
};
void keep_to_habit(zmq::context_t& context, const std::string& lead, const HabitOptions& options);

// Everything that a key of a worker lets anybody say but values for open work, in a random order, by many connections:
// see mixture.cpp. Prints how often it did each.
struct MixtureOptions {
  double seconds = 0;
  std::uint64_t seed = 0;
  std::filesystem::path key;
  // Fingerprint and digest of the data of honest workers, by which it is given work; empty: it makes some up. Then
  // their sessions, in whose names it speaks as well.
  std::vector<std::string> claims;
};
void send_mixture(zmq::context_t& context, const std::string& lead, const MixtureOptions& options);

}  // namespace ballast::hostile
