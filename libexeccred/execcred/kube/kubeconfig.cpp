// SPDX-License-Identifier: Apache-2.0
#include <execcred/kube/kubeconfig.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/access_rules.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/kube/cluster_profile.hpp>
#include <execcred/kube/kubeconfig_rules.hpp>
#include <execcred/os/file.hpp>
#include <execcred/yaml/documents.hpp>
#include <execcred/yaml/yaml.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace execcred {
namespace {

constexpr std::size_t kShownNames = 10;

template <class Entry>
const Entry* find_named(const std::vector<Entry>& entries, std::string_view name) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [name](const Entry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

template <class Entry>
void merge_named(std::vector<Entry>& entries, std::vector<Entry> others) {
  std::set<std::string> names;
  for (const Entry& entry : entries) names.insert(entry.name);
  for (Entry& other : others) {
    if (names.insert(other.name).second) entries.push_back(std::move(other));
  }
}

void make_absolute(std::string& path, const std::filesystem::path& folder) {
  if (!path.empty()) path = (folder / path).native();
}

}  // namespace

void Kubeconfig::resolve_paths(const std::filesystem::path& folder) {
  for (KubeconfigCluster& cluster : clusters_) make_absolute(cluster.certificate_authority, folder);
  for (KubeconfigUser& user : users_) {
    make_absolute(user.token_file, folder);
    make_absolute(user.client_certificate, folder);
    make_absolute(user.client_key, folder);
  }
}

void Kubeconfig::merge(Kubeconfig other) {
  if (current_context_.empty()) current_context_ = std::move(other.current_context_);
  merge_named(clusters_, std::move(other.clusters_));
  merge_named(users_, std::move(other.users_));
  merge_named(contexts_, std::move(other.contexts_));
}

std::vector<std::string> Kubeconfig::context_names() const {
  std::vector<std::string> names;
  names.reserve(contexts_.size());
  for (const ContextEntry& entry : contexts_) names.push_back(entry.name);
  return names;
}

Error Kubeconfig::wrong(std::string message, std::string hint) const {
  return Error{
      .kind = source_ == Source::hub ? Error::Kind::configuration : Error::Kind::no_credential,
      .message = std::move(message),
      .hint = std::move(hint)};
}

Result<const Kubeconfig::ContextEntry*> Kubeconfig::choose(std::string_view name) const {
  if (contexts_.empty()) {
    return wrong("the kubeconfig has no contexts",
                 "it needs one, with the names of a cluster and a user");
  }
  const std::string_view wanted = name.empty() ? std::string_view(current_context_) : name;
  if (wanted.empty() && contexts_.size() == 1) return &contexts_.front();
  if (wanted.empty()) {
    return wrong(
        "the kubeconfig has " + std::to_string(contexts_.size()) +
            " contexts and no current-context",
        "name the intended context; there are " + quoted_list(context_names(), kShownNames));
  }
  if (const ContextEntry* entry = find_named(contexts_, wanted)) return entry;
  const std::string subject = name.empty() ? "the kubeconfig's current-context " + in_quotes(wanted)
                                           : "the context " + in_quotes(wanted);
  return wrong(subject + " is not among the kubeconfig's contexts",
               (contexts_.size() == 1 ? "there is only " : "there are ") +
                   quoted_list(context_names(), kShownNames));
}

Result<KubeconfigContext> Kubeconfig::context(std::string_view name) const {
  const ContextEntry* entry = TRY(choose(name));
  const std::string subject = "the kubeconfig's context " + in_quotes(entry->name) + " names ";
  const KubeconfigCluster* cluster = find_named(clusters_, entry->cluster);
  if (cluster == nullptr) {
    return wrong(subject + (entry->cluster.empty() ? "no cluster"
                                                   : "the cluster " + in_quotes(entry->cluster) +
                                                         ", which is not among its clusters"),
                 "");
  }
  const KubeconfigUser* user = find_named(users_, entry->user);
  if (user == nullptr) {
    return wrong(subject + (entry->user.empty() ? "no user"
                                                : "the user " + in_quotes(entry->user) +
                                                      ", which is not among its users"),
                 "");
  }
  if (cluster->cluster.server.empty()) {
    return wrong("the kubeconfig's cluster " + in_quotes(cluster->name) + " has no server",
                 "write it as https://HOST[:PORT][/PATH]");
  }
  return KubeconfigContext{
      .name = entry->name, .name_space = entry->name_space, .cluster = *cluster, .user = *user};
}

namespace {

using json::ObjectReader;
using json::Value;

// A tenth of the limit for inventories, because kubeconfigs have few aliases.
constexpr std::size_t kAliasNodes = 1'000;

// The fields of client-go's AuthInfo, in its order.
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

// The tree of a text with secrets. The destructor overwrites its strings.
class SecretTree {
 public:
  SecretTree() = default;
  SecretTree(const SecretTree&) = delete;
  SecretTree& operator=(const SecretTree&) = delete;
  ~SecretTree() {
    for (Value& document : documents_) wipe_strings(document);
  }

  Status read(std::string_view text, Kubeconfig::Source source) {
    const bool is_stored = source == Kubeconfig::Source::stored;
    const yaml::Limits limits{.bytes = is_stored ? kMaxKubeconfig : kMaxInventory,
                              .alias_nodes = kAliasNodes,
                              .documents = is_stored ? 2U : 1U,
                              .last_key_counts = !is_stored};
    const std::optional<SecretString> converted = from_utf16(text);
    if (converted) text = converted->reveal();
    Status status = yaml::for_each_document(text, limits, [this](Value document) -> Status {
      documents_.push_back(std::move(document));
      return {};
    });
    if (status && !is_stored) status = yaml::check_escapes(text);
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
    return Error::configuration("the kubeconfig " + problem);
  }

  std::vector<Value> documents_;
};

// The readers below follow kubeconfig_load_problems(): each field has its type.
std::string read_text(const ObjectReader& object, std::string_view name) {
  return json::text_or_empty(object.find(name));
}

SecretString secret_text(const ObjectReader& object, std::string_view name) {
  const Value* value = object.find(name);
  return value == nullptr ? SecretString() : SecretString(*value->string());
}

// Whether a member is present, and is not a value that Go omits: null, "", [] and {}.
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
  cluster.server = read_text(object, "server");
  cluster.tls_server_name = read_text(object, "tls-server-name");
  cluster.insecure_skip_tls_verify = TRY(object.boolean_or_false("insecure-skip-tls-verify"));
  const std::string authority = json::text_or_empty(object.find("certificate-authority-data"));
  cluster.certificate_authority_data = encode_base64(*decode_base64(authority));  // in one spelling
  cluster.proxy_url = read_text(object, "proxy-url");
  cluster.disable_compression = TRY(object.boolean_or_false("disable-compression"));
  entry.certificate_authority = read_text(object, "certificate-authority");
  for (const ObjectReader& extension : TRY(object.objects("extensions"))) {
    const Value* value = extension.find("extension");
    if (value == nullptr || json::text_or_empty(extension.find("name")) != kExecExtension) continue;
    entry.exec_extension = *value;
  }
  entry.problems = kubeconfig_cluster_problems(object.value(), object.path());
  return entry;
}

Status read_auth_provider(const ObjectReader& object, KubeconfigUser& user) {
  const std::optional<ObjectReader> provider = TRY(object.optional_object("auth-provider"));
  if (!provider) return {};
  user.auth_provider = read_text(*provider, "name");
  const std::optional<ObjectReader> config = TRY(provider->optional_object("config"));
  if (config && user.auth_provider == "oidc") user.oidc_id_token = secret_text(*config, "id-token");
  return {};
}

Status read_exec(const ObjectReader& object, KubeconfigUser& user) {
  user.problems = kubeconfig_user_problems(object.value(), object.path());
  const std::optional<ObjectReader> exec = TRY(object.optional_object("exec"));
  if (!exec) return {};
  user.exec = exec->value();
  user.exec_problems = kubeconfig_exec_problems(*exec);
  return {};
}

std::vector<std::string> read_texts(const Value* list) {
  std::vector<std::string> texts;
  if (list == nullptr || list->array() == nullptr) return texts;
  for (const Value& text : *list->array()) texts.push_back(json::text_or_empty(&text));
  return texts;
}

Impersonation read_impersonation(const ObjectReader& object) {
  Impersonation act_as = {.user = read_text(object, "as"),
                          .uid = read_text(object, "as-uid"),
                          .groups = read_texts(object.find("as-groups"))};
  const Value* extra = object.find("as-user-extra");
  if (extra == nullptr) return act_as;
  for (const json::Member& member : *extra->object()) {
    act_as.extra.emplace_back(member.name, read_texts(&member.value));
  }
  return act_as;
}

Result<KubeconfigUser> read_user(const ObjectReader& object) {
  KubeconfigUser user;
  user.token = secret_text(object, "token");
  user.token_file = read_text(object, "tokenFile");
  user.client_certificate = read_text(object, "client-certificate");
  user.client_certificate_data = json::text_or_empty(object.find("client-certificate-data"));
  user.client_key = read_text(object, "client-key");
  user.client_key_data = secret_text(object, "client-key-data");
  TRY(read_auth_provider(object, user));
  user.has_username = has_basic_authentication(object.value());
  user.has_password = is_set(object, "username") || is_set(object, "password");
  TRY(read_exec(object, user));
  user.act_as = read_impersonation(object);
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
  entry.cluster = read_text(object, "cluster");
  entry.user = read_text(object, "user");
  entry.name_space = read_text(object, "namespace");
  return entry;
}

Status first_of(std::vector<Error> problems) {
  return problems.empty() ? Status() : std::move(problems.front());
}

// Reads a list like users: [{name: …, user: {…}}]. If an entry or its inner object is missing, Go
// reads an empty one.
template <class Entry>
Result<std::vector<Entry>> read_list(const ObjectReader& document, std::string_view list,
                                     std::string_view kind, bool is_stored,
                                     Result<Entry> (*read)(const ObjectReader&)) {
  std::vector<Entry> entries;
  const Value* values = document.find(list);
  if (values == nullptr) return entries;
  const Value nothing((json::Object()));
  entries.reserve(values->array()->size());
  for (std::size_t i = 0; i < values->array()->size(); ++i) {
    const Value& value = (*values->array())[i];
    const ObjectReader object = TRY(ObjectReader::open(
        value.is_null() ? nothing : value, document.path_of(list) + "[" + std::to_string(i) + "]"));
    std::string name = read_text(object, "name");
    const Value* body = object.find(kind);
    const ObjectReader reader =
        TRY(ObjectReader::open(body == nullptr ? nothing : *body, object.path_of(kind)));
    const std::string doing = "reading the " + std::string(kind) + " " + in_quotes(name);
    if (is_stored) {
      TRY(first_of(kubeconfig_text_problems(reader.value(), reader.path())).context(doing));
    }
    Entry entry = TRY(read(reader).context(doing));
    entry.name = std::move(name);
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace

Result<Kubeconfig> Kubeconfig::parse(std::string_view text, Source source) {
  const auto read = [text, source]() -> Result<Kubeconfig> {
    SecretTree tree;
    TRY(tree.read(text, source));
    TRY(first_of(kubeconfig_load_problems(tree.root())));
    const ObjectReader document = TRY(ObjectReader::open(tree.root(), ""));
    Kubeconfig config;
    config.source_ = source;
    const bool is_stored = source == Source::stored;
    config.current_context_ = read_text(document, "current-context");
    config.clusters_ = TRY(read_list(document, "clusters", "cluster", is_stored, read_cluster));
    config.users_ = TRY(read_list(document, "users", "user", is_stored, read_user));
    config.contexts_ = TRY(read_list(document, "contexts", "context", is_stored, read_context));
    return config;
  };
  Result<Kubeconfig> config = read();
  if (!config && source == Source::stored) config.error().kind = Error::Kind::no_credential;
  return config;
}

namespace {

using AllowedFields = std::set<std::string, std::less<>>;

// A user's field whose value is a path. With it, a local file of the reader would be sent to a
// server that the writer chooses.
struct PathField {
  std::string KubeconfigUser::*path;
  std::string_view name;
  std::string_view option;
  std::string_view inline_name;
};

constexpr std::array<PathField, 3> kPathFields = {{
    {&KubeconfigUser::client_key, "client-key", "clientKey", "client-key-data"},
    {&KubeconfigUser::client_certificate, "client-certificate", "clientCertificate",
     "client-certificate-data"},
    {&KubeconfigUser::token_file, "tokenFile", "tokenFile", "token"},
}};

Status check_paths(const KubeconfigUser& user, const std::string& subject,
                   const AllowedFields& allowed) {
  for (const PathField& field : kPathFields) {
    if ((user.*field.path).empty() || allowed.contains(field.option)) continue;
    return Error::no_credential(
        subject + "a " + std::string(field.name) +
            " path, which this machine's own files would answer",
        "store the content itself as " + std::string(field.inline_name) +
            ", or allow such paths with --allow-field=" + std::string(field.option));
  }
  return {};
}

Status check_user(const KubeconfigUser& user, const AllowedFields& allowed) {
  const std::string subject = "the kubeconfig's user " + in_quotes(user.name) + " has ";
  if (user.has_exec()) {
    return Error::no_credential(
        subject + "an exec section",
        "a stored kubeconfig may not run programs; store a token or a client "
        "certificate, or run that plugin from the mapping itself");
  }
  if (!user.auth_provider.empty() && user.auth_provider != "oidc") {
    return Error::no_credential(subject + "the auth-provider " + in_quotes(user.auth_provider),
                                "only oidc is safe to read; store a token or a client certificate");
  }
  TRY(check_paths(user, subject, allowed));
  if (!user.impersonation.empty()) {
    return Error::no_credential(
        subject + "impersonation (" + join(user.impersonation, ", ") + ")",
        "a plugin cannot pass it on, so the client would act as the user itself, "
        "perhaps with more rights; store a credential of the impersonated user");
  }
  if (user.has_password) {
    return Error::no_credential(
        subject + "a username or password",
        "API servers take no basic authentication; store a token or a client "
        "certificate");
  }
  if (!user.unknown_fields.empty()) {
    return Error::no_credential(
        subject + "the unknown field " + in_quotes(user.unknown_fields.front()),
        "a field that is not understood is not ignored; remove it");
  }
  return {};
}

Status check_stored_cluster(const KubeconfigCluster& entry, bool allow_insecure) {
  const std::string name = "cluster " + in_quotes(entry.name);
  const std::string subject = "the kubeconfig's " + name + " has ";
  if (!entry.certificate_authority.empty()) {
    return Error::no_credential(
        subject + "a certificate-authority path, which this machine's own files would answer",
        "put the certificates into certificate-authority-data");
  }
  if (entry.cluster.insecure_skip_tls_verify && !allow_insecure) {
    return Error::no_credential(subject + "insecure-skip-tls-verify",
                                "put the server's CA into certificate-authority-data, or pass "
                                "--allow-insecure");
  }
  if (entry.cluster.server.empty()) {
    return Error::no_credential(subject + "no server", "write it as https://HOST[:PORT][/PATH]");
  }
  Status status = check_server_is_https(entry.cluster.server, "the server of the " + name);
  if (!status) status.error().kind = Error::Kind::no_credential;
  return status;
}

}  // namespace

Status Kubeconfig::check_stored(const AllowedFields& allowed_fields, bool allow_insecure) const {
  for (const KubeconfigUser& user : users_) TRY(check_user(user, allowed_fields));
  for (const KubeconfigCluster& cluster : clusters_) {
    TRY(check_stored_cluster(cluster, allow_insecure));
  }
  return {};
}

namespace {

// Whether a client that trusts every file would read a token there.
bool has_content(const std::string& path) {
  const Result<std::string> content = read_untrusted_file(path, kMaxSecretFile);
  return content && !trim(*content).empty();
}

}  // namespace

Result<KubeconfigToken> read_token(const KubeconfigUser& user, bool is_sent_as_is) {
  KubeconfigToken token;
  token.is_from_file =
      !user.token_file.empty() && (user.token.empty() || has_content(user.token_file));
  if (token.is_from_file) {
    token.text = TRY(read_bearer_token(user.token_file)).take();
  } else if (!user.token.empty()) {
    token.text = TRY(bearer_token_of_source(user.token)).take();
    if (!is_sent_as_is) return token;
    // Only at its end, net/http removes blanks.
    std::string_view sent = user.token.reveal();
    while (sent.ends_with(' ') || sent.ends_with('\t')) sent.remove_suffix(1);
    if (sent != token.text.reveal()) {
      return Error{.kind = Error::Kind::configuration,
                   .message =
                       "the token has white space or a line break at one of its ends, which "
                       "clients do not remove"};
    }
  }
  return token;
}

}  // namespace execcred
