// Taking a run's folder away: what Ballast made in it, and nothing else.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ballast {

// What in the folder has the name of a shard's database, links included.
std::vector<std::filesystem::path> databases_in(const std::filesystem::path& folder);

// What in the folder no command of Ballast makes, by names relative to it; sorted.
std::vector<std::string> foreign_to_run(const std::filesystem::path& folder);

// Removes all else, and the folder if it is empty then. Of what is a link, the link. Nothing happens unless no run and
// no server has the folder or one of its databases open: throws std::runtime_error then. Returns what stayed.
std::vector<std::string> remove_run(const std::filesystem::path& folder);

// "a, b, c and 4 more"
std::string names_text(const std::vector<std::string>& names);

}  // namespace ballast
