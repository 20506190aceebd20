// SPDX-License-Identifier: Apache-2.0
#include <execcred/hub/secrets.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <utility>

namespace execcred {
namespace {

// A whole Secret may have a megabyte and a half, and a page 64 MiB.
constexpr std::size_t kWholePage = 32;
constexpr std::size_t kMetadataPage = 500;

HubResource resource_of(const std::string& name_space, const std::string& name = {}) {
  return {.version = "v1", .resource = "secrets", .name_space = name_space, .name = name};
}

// The names are checked because they become part of a path.
Status check_names(const std::string& name_space, const std::string* name) {
  if (!is_dns1123_label(name_space)) {
    return Error::configuration(in_quotes(name_space) + " is no name of a namespace");
  }
  if (name != nullptr && !is_dns1123_subdomain(*name)) {
    return Error::configuration(in_quotes(*name) + " is no name of a Secret");
  }
  return {};
}

// The values of the object's data and stringData, as they are and decoded. Shorter values are left
// out: they are no credentials, and may be words of the hub's message.
SecretTexts values_of(const json::Value& object) {
  constexpr std::size_t kShortest = 20;
  SecretTexts values;
  for (const std::string_view field : {"data", "stringData"}) {
    const json::Value* const data = object.find(field);
    if (data == nullptr || data->object() == nullptr) continue;
    for (const json::Member& member : *data->object()) {
      const std::string* const text = member.value.string();
      if (text == nullptr || text->size() < kShortest) continue;
      values.emplace_back(*text);
      std::optional<std::string> decoded = decode_base64(*text);
      if (!decoded) continue;
      if (decoded->size() >= kShortest) values.emplace_back(*decoded);
      wipe(*decoded);
    }
  }
  return values;
}

SecretString body_of(const json::Value& object) {
  std::string text = json::to_text(object);
  SecretString body(text);
  wipe(text);
  return body;
}

ChangeOutcome not_sent(Error error) {
  return {.kind = ChangeOutcome::Kind::refused, .error = std::move(error)};
}

Error incomplete(const std::string& name, std::string_view field) {
  return Error::configuration(
      "the Secret " + in_quotes(name) + " to be sent has no metadata." + std::string(field),
      "send the object that was read from the hub");
}

}  // namespace

std::string_view metadata_text(const json::Value& object, std::string_view field) {
  const json::Value* const metadata = object.find("metadata");
  const json::Value* const value = metadata == nullptr ? nullptr : metadata->find(field);
  return value == nullptr || value->string() == nullptr ? std::string_view() : *value->string();
}

HubSecrets::HubSecrets(HubClient& hub, HubSecretsSettings settings)
    : hub_(hub), settings_(settings) {}

void HubSecrets::begin() { hub_.begin(std::chrono::steady_clock::now() + settings_.timeout); }

ChangeOutcome HubSecrets::send(HubChange one) {
  begin();
  one.may_be_repeated = true;
  return change(hub_, std::move(one));
}

Status HubSecrets::list(const std::string& name_space, const LabelSelector& selector,
                        HubContent content, std::function<void()> restart,
                        const std::function<void(ListItem)>& receive) {
  if (!name_space.empty()) TRY(check_names(name_space, nullptr));
  TRY(hub_.list(resource_of(name_space),
                {.label_selector = selector.text(),
                 .page_size = content == HubContent::whole ? kWholePage : kMetadataPage,
                 .content = content,
                 .page_timeout = settings_.timeout,
                 .restart = std::move(restart)},
                [&](ListItem item) -> Result<bool> {
                  receive(std::move(item));
                  return true;
                }));
  return {};
}

Result<std::optional<json::Value>> HubSecrets::get(const std::string& name_space,
                                                   const std::string& name) {
  TRY(check_names(name_space, &name));
  begin();
  return hub_.find(resource_of(name_space, name));
}

ChangeOutcome HubSecrets::create(const std::string& name_space, const json::Value& object) {
  const std::string name(metadata_text(object, "name"));
  if (Status checked = check_names(name_space, &name); !checked) {
    return not_sent(std::move(checked).error());
  }
  return send({.method = "POST",
               .verb = "create",
               .resource = resource_of(name_space),
               .query = "fieldManager=" + percent_encode(kFieldManager),
               .body = body_of(object),
               .secrets = values_of(object)});
}

ChangeOutcome HubSecrets::replace(const std::string& name_space, const std::string& name,
                                  const json::Value& object) {
  if (Status checked = check_names(name_space, &name); !checked) {
    return not_sent(std::move(checked).error());
  }
  for (const std::string_view field : {"uid", "resourceVersion"}) {
    if (metadata_text(object, field).empty()) return not_sent(incomplete(name, field));
  }
  return send({.method = "PUT",
               .verb = "update",
               .resource = resource_of(name_space, name),
               .query = "fieldManager=" + percent_encode(kFieldManager),
               .body = body_of(object),
               .secrets = values_of(object)});
}

ChangeOutcome HubSecrets::remove(const std::string& name_space, const std::string& name,
                                 const std::string& uid, const std::string& resource_version) {
  if (Status checked = check_names(name_space, &name); !checked) {
    return not_sent(std::move(checked).error());
  }
  if (uid.empty()) return not_sent(incomplete(name, "uid"));
  if (resource_version.empty()) return not_sent(incomplete(name, "resourceVersion"));
  json::Value preconditions;
  preconditions.add("uid", json::Value(uid));
  preconditions.add("resourceVersion", json::Value(resource_version));
  json::Value options;
  options.add("apiVersion", json::Value("v1"));
  options.add("kind", json::Value("DeleteOptions"));
  options.add("preconditions", std::move(preconditions));
  return send({.method = "DELETE",
               .verb = "delete",
               .resource = resource_of(name_space, name),
               .body = body_of(options)});
}

}  // namespace execcred
