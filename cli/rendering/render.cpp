#include "cli/rendering/render.h"

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

namespace ballast {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

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

void tell_unfit_names(const RenderedJob& rendered) {
  if (rendered.options.name.empty() && rendered.name != rendered.job.spec.job) {
    std::fprintf(
        stderr,
        "ballast: the objects' names begin with %s, since Kubernetes does not take %s; --name chooses another\n",
        rendered.name.c_str(), rendered.job.spec.job.c_str());
  }
}

void check_keys(const RenderedJob& rendered) {
  if (rendered.copies_to_bucket() && rendered.options.s3_secret.empty() && !rendered.options.weights) {
    throw UsageError("durability.copy_to: copies go to " + rendered.job.spec.durability.copy_to +
                     ", for which servers need keys; say --s3-secret with the name of a Secret that has them");
  }
}

// Compose takes a folder without a slash for the name of a volume, and others from where its file is.
RenderOptions with_absolute_folders(RenderOptions options) {
  for (auto* folder : {&options.data, &options.copies, &options.initial}) {
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
    check_keys(rendered);
    tell_unfit_names(rendered);
    std::vector<Json> objects;
    if (options.weights) {
      objects.push_back(weights_job(rendered));
    } else {
      objects = kubernetes_objects(rendered);
    }
    const auto text = options.json ? list_text(objects) : origin(rendered, "kubernetes") + yaml_documents(objects);
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
      throw UsageError("-o " + options.output + ": it is no folder; compose.yaml and job.yaml are written into one");
    }
    fs::create_directories(options.output);
    write_rendered(options.output + "/job.yaml", rendered.job.yaml);
    write_rendered(options.output + "/compose.yaml", origin(rendered, "compose") + yaml_text(compose_file(rendered)));
  });
}

}  // namespace ballast
