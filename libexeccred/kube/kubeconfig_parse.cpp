// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/base64.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/kube/kubeconfig.hpp>
#include <execcred/os/file.hpp>
#include <execcred/yaml/yaml.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace execcred {
namespace {

using json::ObjectReader;
using json::Value;

// Kubeconfigs repeat little: a tenth of what inventories may.
constexpr std::size_t kAliasNodes = 1'000;

// AuthInfo, in its own order.
constexpr std::array<std::string_view, 15> kUserFields = {"client-certificate",
                                                          "client-certificate-data",
                                                          "client-key",
                                                          "client-key-data",
                                                          "token",
                                                          "tokenFile",
                                                          "as",
                                                          "as-uid",
                                                          "as-groups",
                                                          "as-user-extra",
                                                          "username",
                                                          "password",
                                                          "auth-provider",
                                                          "exec",
                                                          "extensions"};
constexpr std::array<std::string_view, 4> kImpersonation = {"as", "as-uid", "as-groups",
                                                            "as-user-extra"};

void wipe_strings(Value& value) {
  if (std::string* text = value.string()) wipe(*text);
  if (json::Array* items = value.array()) {
    for (Value& item : *items) wipe_strings(item);
  }
  if (json::Object* members = value.object()) {
    for (json::Member& member : *members) wipe_strings(member.value);
  }
}

// The tree of a text that holds secrets; overwritten at its end, however that comes.
class SecretTree {
 public:
  SecretTree() = default;
  SecretTree(const SecretTree&) = delete;
  SecretTree& operator=(const SecretTree&) = delete;
  ~SecretTree() {
    for (Value& document : documents_) wipe_strings(document);
  }

  Status read(std::string_view text) {
    const yaml::Limits limits{.bytes = kMaxKubeconfig, .alias_nodes = kAliasNodes};
    Status status = yaml::for_each_document(text, limits, [this](Value document) -> Status {
      documents_.push_back(std::move(document));
      return {};
    });
    if (!status) return wrong(status.error().message);
    if (documents_.empty()) return wrong("is empty");
    if (documents_.size() > 1) return wrong("holds more than one document");
    if (documents_.front().object() == nullptr) {
      return wrong("is " + std::string(documents_.front().kind()) + ", not a mapping");
    }
    return {};
  }

  const Value& root() const { return documents_.front(); }

 private:
  static Error wrong(const std::string& problem) {
    return Error{.kind = Error::Kind::configuration, .message = "the kubeconfig " + problem};
  }

  std::vector<Value> documents_;
};

// A field that holds a string, or is absent. What YAML takes for something else is told so,
// because people write names like 123 and yes without quotes.
Result<const std::string*> find_text(const ObjectReader& object, std::string_view name) {
  const Value* value = object.find(name);
  const std::string* text = value == nullptr ? nullptr : value->string();
  if (value == nullptr || text != nullptr) return text;
  Error error = json::field_error(object.path_of(name),
                                  "must be a string, not " + std::string(value->kind()));
  if (value->number() != nullptr || value->boolean() != nullptr) {
    error.hint = "put it in quotes: without them YAML takes it for " + std::string(value->kind());
  }
  return error;
}

Result<std::string> read_text(const ObjectReader& object, std::string_view name) {
  const std::string* text = TRY(find_text(object, name));
  if (text == nullptr) return std::string();
  if (has_control_character(*text)) {
    return json::field_error(object.path_of(name), "has a control character");
  }
  return *text;
}

Result<SecretString> read_secret_text(const ObjectReader& object, std::string_view name) {
  const std::string* text = TRY(find_text(object, name));
  return text == nullptr ? SecretString() : SecretString(*text);
}

// A []byte of Go's: standard base64, in which line breaks are passed over.
Status check_base64(const ObjectReader& object, std::string_view name, std::string_view text) {
  std::optional<std::string> bytes = decode_base64(text);
  if (!bytes) return json::field_error(object.path_of(name), "is no base64");
  wipe(*bytes);
  return {};
}

Result<std::string> read_base64(const ObjectReader& object, std::string_view name) {
  const std::string* text = TRY(find_text(object, name));
  if (text == nullptr) return std::string();
  TRY(check_base64(object, name, *text));
  return *text;
}

// Not what Go would leave out again: null, "", [] and {}.
bool is_set(const ObjectReader& object, std::string_view name) {
  const Value* value = object.find(name);
  if (value == nullptr) return false;
  const bool is_empty = (value->string() != nullptr && value->string()->empty()) ||
                        (value->array() != nullptr && value->array()->empty()) ||
                        (value->object() != nullptr && value->object()->empty());
  return !is_empty;
}

Result<KubeconfigCluster> read_cluster(const ObjectReader& object) {
  KubeconfigCluster entry;
  Cluster& cluster = entry.cluster;
  cluster.server = TRY(read_text(object, "server"));
  cluster.tls_server_name = TRY(read_text(object, "tls-server-name"));
  cluster.insecure_skip_tls_verify = TRY(object.boolean_or_false("insecure-skip-tls-verify"));
  cluster.certificate_authority_data = TRY(read_base64(object, "certificate-authority-data"));
  cluster.certificate_authority_data =
      encode_base64(*decode_base64(cluster.certificate_authority_data));  // in one spelling
  cluster.proxy_url = TRY(read_text(object, "proxy-url"));
  cluster.disable_compression = TRY(object.boolean_or_false("disable-compression"));
  entry.certificate_authority = TRY(read_text(object, "certificate-authority"));
  return entry;
}

Status read_auth_provider(const ObjectReader& object, KubeconfigUser& user) {
  const std::optional<ObjectReader> provider = TRY(object.optional_object("auth-provider"));
  if (!provider) return {};
  user.auth_provider = TRY(read_text(*provider, "name"));
  if (user.auth_provider.empty()) {
    return json::field_error(provider->path_of("name"), "is missing");
  }
  const std::optional<ObjectReader> config = TRY(provider->optional_object("config"));
  if (!config || user.auth_provider != "oidc") return {};
  user.oidc_id_token = TRY(read_secret_text(*config, "id-token"));
  return {};
}

Result<KubeconfigUser> read_user(const ObjectReader& object) {
  KubeconfigUser user;
  user.token = TRY(read_secret_text(object, "token"));
  user.token_file = TRY(read_text(object, "tokenFile"));
  user.client_certificate = TRY(read_text(object, "client-certificate"));
  user.client_certificate_data = TRY(read_base64(object, "client-certificate-data"));
  user.client_key = TRY(read_text(object, "client-key"));
  user.client_key_data = TRY(read_secret_text(object, "client-key-data"));
  TRY(check_base64(object, "client-key-data", user.client_key_data.reveal()));
  TRY(read_auth_provider(object, user));
  user.has_password = is_set(object, "username") || is_set(object, "password");
  user.has_exec = object.find("exec") != nullptr;
  for (const std::string_view field : kImpersonation) {
    if (is_set(object, field)) user.impersonation.emplace_back(field);
  }
  for (const json::Member& member : *object.value().object()) {
    const bool is_known =
        std::find(kUserFields.begin(), kUserFields.end(), member.name) != kUserFields.end();
    if (!is_known && !member.value.is_null()) user.unknown_fields.push_back(member.name);
  }
  return user;
}

Result<Kubeconfig::ContextEntry> read_context(const ObjectReader& object) {
  Kubeconfig::ContextEntry entry;
  entry.cluster = TRY(read_text(object, "cluster"));
  entry.user = TRY(read_text(object, "user"));
  entry.name_space = TRY(read_text(object, "namespace"));
  return entry;
}

Result<std::string> read_name(const ObjectReader& entry, std::string_view kind,
                              std::set<std::string>& names) {
  std::string name = TRY(read_text(entry, "name"));
  if (name.empty()) return json::field_error(entry.path_of("name"), "is missing or empty");
  if (!names.insert(name).second) {
    Error error =
        json::field_error(entry.path_of("name"),
                          "is " + in_quotes(name) + ", like that of another " + std::string(kind));
    error.hint = "keep one: clients differ in which they take";
    return error;
  }
  return name;
}

// Of a list like users: [{name: …, user: {…}}]. Without the inner object, Go sees an empty one.
template <class Entry>
Result<std::vector<Entry>> read_list(const ObjectReader& document, std::string_view list,
                                     std::string_view kind,
                                     Result<Entry> (*read)(const ObjectReader&)) {
  const std::vector<ObjectReader> objects = TRY(document.objects(list));
  const Value nothing((json::Object()));
  std::set<std::string> names;
  std::vector<Entry> entries;
  entries.reserve(objects.size());
  for (const ObjectReader& object : objects) {
    std::string name = TRY(read_name(object, kind, names));
    const Value* body = object.find(kind);
    const std::string doing = "reading the " + std::string(kind) + " " + in_quotes(name);
    Result<ObjectReader> reader =
        ObjectReader::open(body == nullptr ? nothing : *body, object.path_of(kind));
    if (!reader) return std::move(reader).context(doing).error();
    Entry entry = TRY(read(*reader).context(doing));
    entry.name = std::move(name);
    entries.push_back(std::move(entry));
  }
  return entries;
}

// Both may be missing: clientcmd assumes them.
Status check_kind(const ObjectReader& document) {
  const std::string version = TRY(read_text(document, "apiVersion"));
  const std::string kind = TRY(read_text(document, "kind"));
  if ((version.empty() || version == "v1") && (kind.empty() || kind == "Config")) return {};
  return Error{.kind = Error::Kind::configuration,
               .message = "the kubeconfig is " + in_quotes(kind) + " of " + in_quotes(version) +
                          ", not Config of v1"};
}

}  // namespace

Result<Kubeconfig> Kubeconfig::parse(std::string_view text, Source source) {
  const auto read = [text, source]() -> Result<Kubeconfig> {
    SecretTree tree;
    TRY(tree.read(text));
    const ObjectReader document = TRY(ObjectReader::open(tree.root(), ""));
    TRY(check_kind(document));
    Kubeconfig config;
    config.source_ = source;
    config.current_context_ = TRY(read_text(document, "current-context"));
    config.clusters_ = TRY(read_list(document, "clusters", "cluster", read_cluster));
    config.users_ = TRY(read_list(document, "users", "user", read_user));
    config.contexts_ = TRY(read_list(document, "contexts", "context", read_context));
    return config;
  };
  Result<Kubeconfig> config = read();
  if (!config && source == Source::stored) config.error().kind = Error::Kind::no_credential;
  return config;
}

}  // namespace execcred
