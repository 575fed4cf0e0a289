#include "cli/rendering/render.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/rendering/compose.h"
#include "cli/rendering/kubernetes.h"
#include "cli/rendering/rendered_job.h"
#include "cli/rendering/yaml_text.h"
#include "cli/telling/exit_codes.h"
#include "common/command/usage_error.h"
#include "common/job/config_error.h"
#include "common/keys/key_file.h"

namespace ballast {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr auto* kCommentOfKeys =
    "# The service `keys` makes keys when there are none yet, in a volume for each role; docs/containers.md, \"Keys\": "
    "how\n# to bring your own.\n";

void write_rendered(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) {
    throw std::runtime_error(path + " cannot be written");
  }
}

// How the file came about, for who finds it; only what does not depend on where it was rendered.
std::string origin(const RenderedJob& rendered, const std::string& what) {
  return "# Written by `ballast render " + what + "` of the job " + rendered.job.spec.job + ".\n";
}

std::string list_text(const std::vector<Json>& objects) {
  const Json list = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", objects}};
  return list.dump(2) + "\n";
}

std::string comment_of_page() {
  return "# The job's page at http://127.0.0.1:" + std::to_string(kPagePort) +
         ", or at the port PAGE_PORT; every worker can read it, too:\n#\n#   "
         "docker compose -f compose.yaml -f compose.page.yaml up\n";
}

void tell_unfit_names(const RenderedJob& rendered) {
  if (rendered.options.name.empty() && rendered.name != rendered.job.spec.job) {
    std::fprintf(
        stderr,
        "ballast: the objects' names begin with %s, since Kubernetes does not take %s; --name chooses another\n",
        rendered.name.c_str(), rendered.job.spec.job.c_str());
  }
}

// For who reads the objects, and for who never sees them, as they go to kubectl at once.
std::string comment_of_secrets(const RenderedJob& rendered) {
  constexpr std::array kCounts = {"two", "three", "four"};
  const auto more = std::size_t{rendered.encrypts_copies()} + std::size_t{rendered.has_s3_credentials()};
  std::string text =
      std::string("# Its pods wait for ") + kCounts.at(more) + " Secrets, whose contents are not in here:\n";
  for (const auto& line : secrets_to_make(rendered)) {
    text += "#   " + line + "\n";
  }
  return text;
}

void tell_of_secrets(const RenderedJob& rendered) {
  std::fprintf(stderr,
               "ballast: the pods wait for the Secrets %s (%s, %s) and %s (%s), of what `ballast keygen` makes "
               "(docs/kubernetes.md, \"Keys\")\n",
               rendered.server_secret().c_str(), kServerKeyFile, kAllowedKeysFile, rendered.worker_secret().c_str(),
               kWorkerKeyFile);
  if (rendered.encrypts_copies()) {
    std::fprintf(
        stderr,
        "ballast: its servers wait for the Secret %s (%s), of what `ballast keygen --copies` makes; who loses it "
        "loses the copies (docs/copies.md)\n",
        rendered.options.copy_key.c_str(), rendered.copy_key_name().c_str());
  }
  if (rendered.has_s3_credentials()) {
    std::fprintf(stderr,
                 "ballast: its servers wait for the Secret %s (%s), the bucket's keys as the AWS command line has them "
                 "(docs/copies.md)\n",
                 rendered.options.s3_credentials.c_str(), rendered.s3_credentials_name().c_str());
  }
}

void check_keys_of_bucket(const RenderedJob& rendered) {
  if (rendered.copies_to_bucket() && rendered.options.s3_secret.empty() && !rendered.has_s3_credentials() &&
      !rendered.options.weights) {
    throw UsageError("durability.copy_to: copies go to " + rendered.job.spec.durability.copy_to +
                     ", for which servers need keys; say --s3-secret with the name of a Secret that has them, or "
                     "durability.s3_credentials_file with --s3-credentials");
  }
}

// Compose takes a folder without a slash for the name of a volume, and others from where its file is.
RenderOptions with_absolute_folders(RenderOptions options) {
  for (auto* folder : {&options.data, &options.copies, &options.initial, &options.copy_key, &options.s3_credentials}) {
    if (!folder->empty()) {
      *folder = fs::absolute(*folder).lexically_normal().string();
    }
  }
  return options;
}

template <typename Render>
int rendered_or_told(Render render) {
  try {
    render();
    return 0;
  } catch (const ConfigError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kExitBadJob;
  }
}

}  // namespace

int render_kubernetes(const RenderOptions& options) {
  return rendered_or_told([&] {
    const auto rendered = rendered_job(options);
    check_keys_of_bucket(rendered);
    tell_unfit_names(rendered);
    std::vector<Json> objects;
    auto head = origin(rendered, "kubernetes");
    if (options.weights) {
      objects.push_back(weights_job(rendered));
    } else {
      objects = kubernetes_objects(rendered);
      head += comment_of_secrets(rendered);
      head += "# The job's page comes to http://127.0.0.1:" + std::to_string(kPagePort) + "/ by\n#   " +
              page_to_forward(rendered) + "\n";
      tell_of_secrets(rendered);
    }
    const auto text = options.json ? list_text(objects) : head + yaml_documents(objects);
    if (options.output.empty()) {
      std::cout << text << std::flush;
    } else {
      write_rendered(options.output, text);
    }
  });
}

int render_compose(const RenderOptions& options) {
  return rendered_or_told([&] {
    const auto rendered = rendered_job(with_absolute_folders(options));
    if (fs::exists(options.output) && !fs::is_directory(options.output)) {
      throw UsageError("-o " + options.output +
                       ": it is no folder; compose.yaml, compose.page.yaml and job.yaml are written into one");
    }
    fs::create_directories(options.output);
    write_rendered(options.output + "/job.yaml", rendered.job.yaml);
    write_rendered(options.output + "/compose.yaml",
                   origin(rendered, "compose") + kCommentOfKeys + yaml_text(compose_file(rendered)));
    write_rendered(options.output + "/compose.page.yaml",
                   origin(rendered, "compose") + comment_of_page() + yaml_text(compose_page_file(rendered)));
  });
}

}  // namespace ballast
