// SPDX-License-Identifier: Apache-2.0
#include "secret_target.hpp"

#include "list_text.hpp"

#include <execcred/base/digest.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/base/pause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/hub/secrets.hpp>
#include <execcred/json/json.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace execcred::sync {
namespace {

using json::Object;
using json::Value;

// An attempt is a read and a change. It is repeated after a conflict with another writer, or, after
// a pause, when its reply was lost.
constexpr int kMostAttempts = 6;
constexpr int kMostLost = 4;

Texts texts_of(const Value& object, std::string_view field) {
  Texts texts;
  const Value* const metadata = object.find("metadata");
  const Value* const members = metadata == nullptr ? nullptr : metadata->find(field);
  if (members == nullptr || members->object() == nullptr) return texts;
  for (const json::Member& member : *members->object()) {
    if (member.value.string() != nullptr) texts.emplace(member.name, *member.value.string());
  }
  return texts;
}

std::string place_name(const std::string& name_space, const std::string& name) {
  std::string text = "Secret ";
  return text.append(name_space).append("/").append(name);
}

Result<LabelSelector> selector_of(const std::string& instance) {
  std::string text(kManagedBy);
  text.append("=").append(kManager).append(",").append(kInstance).append("=").append(instance);
  return LabelSelector::parse(text);
}

std::optional<Mark> mark_of_object(const Value& object) {
  return mark_of(texts_of(object, "labels"), texts_of(object, "annotations"));
}

void set_member(Value& object, std::string_view name, Value value) {
  for (json::Member& member : *object.object()) {
    if (member.name != name) continue;
    member.value = std::move(value);
    return;
  }
  object.add(name, std::move(value));
}

Value& metadata_of(Value& object) {
  for (json::Member& member : *object.object()) {
    if (member.name == "metadata") return member.value;
  }
  return object.add("metadata", Value(Object()));
}

Value data_of(const SecretForm& form) {
  Value data((Object()));
  for (const auto& [key, text] : form.data) data.add(key, Value(encode_base64(text.reveal())));
  return data;
}

// The end of a credential is not a part of it.
bool is_end(const SecretForm& form, std::string_view key) {
  return form.shows_end && key == kEndKey;
}

bool is_type(const Value& object, const std::string& type) {
  const Value* const member = object.find("type");
  return member != nullptr && member->string() != nullptr && *member->string() == type;
}

// Whether it holds the same credential, perhaps with another end.
bool has_data(const Value& object, const SecretForm& form) {
  const Value* const data = object.find("data");
  if (data == nullptr || data->object() == nullptr) return false;
  if (data->object()->size() != form.data.size()) return false;
  return std::all_of(form.data.begin(), form.data.end(), [&](const auto& value) {
    const Value* const there = data->find(value.first);
    if (there == nullptr || there->string() == nullptr) return false;
    return is_end(form, value.first) || *there->string() == encode_base64(value.second.reveal());
  });
}

void put_mark(const Mark& mark, const SecretForm* form, Value& object) {
  Texts labels = texts_of(object, "labels");
  Texts annotations = texts_of(object, "annotations");
  write_mark(mark, labels, annotations);
  if (form != nullptr) {
    for (const auto& [name, text] : form->labels) labels[name] = text;
    for (const auto& [name, text] : form->annotations) annotations[name] = text;
  }
  set_member(metadata_of(object), "labels", cli::object_of(labels));
  set_member(metadata_of(object), "annotations", cli::object_of(annotations));
}

Value new_object(const Held& held, const SecretForm& form) {
  Value metadata((Object()));
  metadata.add("name", Value(held.name));
  metadata.add("namespace", Value(held.name_space));
  Value object((Object()));
  object.add("apiVersion", Value("v1"));
  object.add("kind", Value("Secret"));
  object.add("metadata", std::move(metadata));
  object.add("type", Value(form.type));
  object.add("data", data_of(form));
  put_mark(held.mark, &form, object);
  return object;
}

Error foreign(const std::optional<Mark>& mark) {
  return Error{.kind = Error::Kind::no_credential,
               .message = mark ? "the Secret belongs to the instance " + in_quotes(mark->instance) +
                                     ", ClusterProfile " + in_quotes(mark->cluster())
                               : "the Secret is not of execcred: it lacks the label " +
                                     std::string(kManagedBy) + "=" + std::string(kManager) +
                                     " or one of execcred's annotations",
               .hint = "it stays as it is; remove it, or choose other names with --secret-name",
               .cause = cause::kTargetForeign};
}

// Gives the error the cause of a target. The causes of the hub's errors are about reading from the
// hub.
Error of_target(Error error) {
  const bool is_unavailable = error.kind == Error::Kind::unavailable;
  error.cause = is_unavailable ? cause::kTargetUnavailable : cause::kTargetRefused;
  if (error.message.find("exceeded quota") != std::string::npos) {
    error.hint = "raise the quota of the namespace, or choose another with --secret-namespace";
  }
  return error;
}

Error never_settled() {
  return Error{.kind = Error::Kind::unavailable,
               .message = "the Secret kept changing while it was written",
               .hint = "look for another program that writes it",
               .cause = cause::kTargetUnavailable};
}

// Whether to read the object and try again.
bool may_settle(const ChangeOutcome& outcome) {
  using Kind = ChangeOutcome::Kind;
  return outcome.kind == Kind::conflict || outcome.kind == Kind::absent ||
         outcome.kind == Kind::unknown;
}

// One attempt at a change. nullopt: the object must be read again.
using Attempt = Result<std::optional<Wrote>>;

// What the attempts until now have shown.
struct History {
  bool was_sent = false;  // a change that is not known to have been refused: it may be done
  std::optional<Error> lost = std::nullopt;  // why the last one's reply is not known

  Attempt settled(const ChangeOutcome& outcome, ChangeOutcome::Kind also_done) {
    lost.reset();
    if (outcome || outcome.kind == also_done) return std::optional(Wrote::written);
    if (!may_settle(outcome)) return of_target(outcome.error);
    was_sent = true;
    if (outcome.kind == ChangeOutcome::Kind::unknown) lost = of_target(outcome.error);
    return std::optional<Wrote>();
  }
  // The result if the object is found as it should be.
  Wrote found() const { return was_sent ? Wrote::written : Wrote::unchanged; }
};

// A Secret as JSON, which is wiped at the end.
class SecretObject {
 public:
  explicit SecretObject(Value value) : value_(std::move(value)) {}
  SecretObject(const SecretObject&) = delete;
  SecretObject& operator=(const SecretObject&) = delete;
  ~SecretObject() { json::wipe(value_); }
  Value& get() { return value_; }
  const Value& get() const { return value_; }

 private:
  Value value_;
};

Attempt remove_object(HubSecrets& secrets, const Held& held, const Value& object,
                      History& history) {
  const ChangeOutcome outcome =
      secrets.remove(held.name_space, held.name, std::string(metadata_text(object, "uid")),
                     std::string(metadata_text(object, "resourceVersion")));
  return history.settled(outcome, ChangeOutcome::Kind::absent);
}

// Changes a Secret. Gets the Secret as it is now; nullopt if there is none.
using Change = std::function<Attempt(HubSecrets&, std::optional<Value>&, History&)>;

// What is known of a Secret before it is read: nullopt if nothing is known; else the Secret, or
// nullopt if there is none.
using Known = std::optional<std::optional<Value>>;

bool is_stopped_within(Duration pause, const StopEvent* stop) {
  if (stop != nullptr) return stop->wait_until(std::chrono::steady_clock::now() + pause);
  pause_for(pause);
  return false;
}

Result<Wrote> settle(HubClients& clients, Duration timeout, const Held& held, Known known,
                     const Change& change) {
  return clients.with([&](HubClient& client) -> Result<Wrote> {
    HubSecrets secrets(client, {.timeout = timeout});
    History history;
    Duration pause = client.retries().first_pause;
    for (int i = 1, lost = 0; i <= kMostAttempts; ++i) {
      Result<std::optional<Value>> found = known ? Result<std::optional<Value>>(std::move(*known))
                                                 : secrets.get(held.name_space, held.name);
      known.reset();
      if (!found) return of_target(found.error());
      const Attempt wrote = change(secrets, *found, history);
      if (*found) json::wipe(**found);
      if (!wrote) return wrote.error();
      if (*wrote) return **wrote;
      if (!history.lost) continue;
      const StopEvent* const stop = client.retries().stop;
      if (++lost == kMostLost || is_stopped_within(jittered(pause), stop)) break;
      pause *= 4;
    }
    return history.lost ? *history.lost : never_settled();
  });
}

// The digest of the credential without its end.
Sha256Digest digest_of(const SecretForm& form) {
  Value data((Object()));
  for (const auto& [key, text] : form.data) {
    if (!is_end(form, key)) data.add(key, Value(text.reveal()));
  }
  std::string text = json::to_text(data);
  json::wipe(data);
  const Sha256Digest digest = sha256(text);
  wipe(text);
  return digest;
}

void erase_member(Value& object, std::string_view name) {
  json::Object& members = *object.object();
  for (auto member = members.begin(); member != members.end(); ++member) {
    if (member->name != name) continue;
    json::wipe(member->value);
    members.erase(member);
    return;
  }
}

}  // namespace

// The Secrets as they were read last, without their data.
class SecretStore::Seen {
 public:
  struct Copy {
    std::string text = {};  // JSON; empty: there is one, to be read
    std::string version = {};
    Sha256Digest data = {};
  };

  void clear() {
    const std::lock_guard lock(mutex_);
    copies_.clear();
  }
  // Stores that there is a Secret, which must be read before it is changed.
  void note(const Held& held) {
    const std::lock_guard lock(mutex_);
    copies_[held.place] = {};
  }
  void forget(const Held& held) {
    const std::lock_guard lock(mutex_);
    copies_.erase(held.place);
  }
  void keep(const Held& held, const SecretForm& form, Value& object) {
    Copy seen{.version = std::string(metadata_text(object, "resourceVersion")),
              .data = digest_of(form)};
    erase_member(object, "data");
    // If an object has no managedFields, the hub keeps those that it has.
    erase_member(metadata_of(object), "managedFields");
    seen.text = json::to_text(object);
    const std::lock_guard lock(mutex_);
    copies_[held.place] = std::move(seen);
  }
  // nullopt if no Secret was seen at this place.
  std::optional<Copy> find(const Held& held) const {
    const std::lock_guard lock(mutex_);
    const auto found = copies_.find(held.place);
    return found == copies_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Copy> copies_;  // by place
};

Result<std::unique_ptr<HubClient>> HubClients::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<HubClient> client = std::move(idle_.back());
      idle_.pop_back();
      return client;
    }
  }
  return std::make_unique<HubClient>(TRY(make_()));
}

void HubClients::give_back(std::unique_ptr<HubClient> client) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(client));
}

void HubClients::keep_retry_after(std::optional<Duration> retry_after) {
  if (!retry_after) return;
  const std::lock_guard lock(mutex_);
  retry_at_ = std::max(retry_at_, std::chrono::steady_clock::now() + *retry_after);
}

Duration HubClients::retry_after() const {
  const std::lock_guard lock(mutex_);
  return std::max(Duration(retry_at_ - std::chrono::steady_clock::now()), Duration(0));
}

SecretStore::SecretStore(SecretSettings settings, HubClients& clients)
    : settings_(std::move(settings)), clients_(clients), seen_(std::make_unique<Seen>()) {}

SecretStore::~SecretStore() {
  if (watcher_.joinable()) watcher_.join();
}

Status SecretStore::watch(HubClient client, const StopEvent& stop) {
  const LabelSelector selector = TRY(selector_of(settings_.instance));
  watch_ = std::make_unique<HubWatch>(std::move(client),
                                      watch_secret_metadata(settings_.scanned, selector));
  watcher_ = std::thread([this, &stop] { watch_->run(stop); });
  return {};
}

Held SecretStore::place_of(const std::string& name, const Mark& mark) {
  const std::string& name_space =
      settings_.name_space.empty() ? mark.name_space : settings_.name_space;
  return {.store = this,
          .place = place_name(name_space, name),
          .name_space = name_space,
          .name = name,
          .mark = mark};
}

Result<std::vector<Held>> SecretStore::scan() {
  const LabelSelector selector = TRY(selector_of(settings_.instance));
  std::vector<Held> held;
  const auto restart = [&] {
    held.clear();
    seen_->clear();
  };
  // A Secret that cannot be read has no mark of ours: its author only gave it our label.
  const auto take = [&](const ListItem& item) {
    std::optional<Mark> mark = mark_of_object(item.object);
    if (!mark || mark->instance != settings_.instance) return;
    const std::string name_space(metadata_text(item.object, "namespace"));
    const std::string name(metadata_text(item.object, "name"));
    held.push_back({.store = this,
                    .place = place_name(name_space, name),
                    .name_space = name_space,
                    .name = name,
                    .mark = std::move(*mark)});
    seen_->note(held.back());
  };
  const auto list = [&](HubClient& client) -> Result<bool> {
    TRY(HubSecrets(client).list(settings_.scanned, selector, HubContent::metadata, restart, take));
    return true;
  };
  TRY(clients_.with(list));
  return held;
}

bool SecretStore::is_gone(const Held& held) const {
  if (!watch_) return false;
  const auto object = watch_->find(held.name_space, held.name);
  return object && *object == nullptr;
}

Store::Watching SecretStore::watching() const {
  if (!watch_) return {};
  const WatchState state = watch_->state();
  Watching watching{.is_up = state.is_in_sync};
  if (state.error) watching.error = of_target(*state.error);
  return watching;
}

bool SecretStore::is_at(const Held& held, const std::string& version) const {
  if (!watch_) return false;
  const auto object = watch_->find(held.name_space, held.name);
  return object && *object && (*object)->resource_version == version;
}

bool SecretStore::is_foreign(const Held& held) const {
  const auto look = [&](HubClient& client) -> Result<bool> {
    HubSecrets secrets(client, {.timeout = settings_.timeout});
    std::optional<Value> found = TRY(secrets.get(held.name_space, held.name));
    if (!found) return false;
    const SecretObject object(*std::move(found));
    const std::optional<Mark> mark = mark_of_object(object.get());
    return !mark || !mark->is_of(held.mark);
  };
  const Result<bool> is_foreign = clients_.with(look);
  return is_foreign && *is_foreign;
}

Result<Wrote> SecretStore::write(const Held& held, const SecretForm& form,
                                 const MayWrite& may_write) {
  const auto written = [&](ChangeOutcome outcome, History& history) -> Attempt {
    if (outcome) seen_->keep(held, form, outcome.object);
    json::wipe(outcome.object);
    return history.settled(outcome, ChangeOutcome::Kind::done);
  };
  const auto change = [&](HubSecrets& secrets, std::optional<Value>& found,
                          History& history) -> Attempt {
    if (!found) {
      if (!may_write()) return std::optional(Wrote::not_now);
      SecretObject object(new_object(held, form));
      return written(secrets.create(held.name_space, object.get()), history);
    }
    const std::optional<Mark> mark = mark_of_object(*found);
    if (!mark || !mark->is_of(held.mark)) return foreign(mark);
    const bool is_whole = has_data(*found, form) && is_type(*found, form.type);
    if (is_whole && mark->stands_for(held.mark, form.shows_end)) {
      seen_->keep(held, form, *found);
      // What was there before has another time.
      const bool is_this_one = mark->issued == held.mark.issued;
      return std::optional(is_this_one ? history.found() : Wrote::unchanged);
    }
    if (!may_write()) return std::optional(Wrote::not_now);
    if (!mark->is_same_object(held.mark) || !is_type(*found, form.type)) {
      // The next attempt creates it.
      const std::optional<Wrote> removed = TRY(remove_object(secrets, held, *found, history));
      static_cast<void>(removed);
      return std::optional<Wrote>();
    }
    set_member(*found, "data", data_of(form));
    put_mark(held.mark, &form, *found);
    return written(secrets.replace(held.name_space, held.name, *found), history);
  };
  const std::optional<Seen::Copy> seen = seen_->find(held);
  // If no Secret was seen, a POST finds out whether there is one.
  Known known;
  if (!seen) known.emplace();
  if (seen && !seen->text.empty()) {
    Value object = TRY(json::parse(seen->text, {.bytes = kMaxItem}));
    const std::optional<Mark> mark = mark_of_object(object);
    const bool is_same =
        mark && mark->stands_for(held.mark, form.shows_end) && seen->data == digest_of(form);
    if (is_same && is_at(held, seen->version)) return Wrote::unchanged;
    // If it should be the same, the Secret is read: another writer may have changed the data, and
    // the copy has no data to compare.
    if (!is_same) known.emplace(std::move(object));
  }
  seen_->note(held);
  return settle(clients_, settings_.timeout, held, std::move(known), change);
}

Result<Wrote> SecretStore::mark_expired(const Held& held, const MayWrite& may_write) {
  const auto change = [&](HubSecrets& secrets, std::optional<Value>& found,
                          History& history) -> Attempt {
    const std::optional<Mark> mark = found ? mark_of_object(*found) : std::nullopt;
    if (!mark || !mark->is_of(held.mark)) return std::optional(Wrote::unchanged);
    if (mark->is_expired) return std::optional(history.found());
    // Another process renewed it. An earlier end is that of the same credential, as first claimed.
    const bool is_renewed = !mark->expires || *mark->expires > *held.mark.expires;
    if (is_renewed) return std::optional(Wrote::unchanged);
    if (!may_write()) return std::optional(Wrote::not_now);
    Mark expired = *mark;
    expired.is_expired = true;
    put_mark(expired, nullptr, *found);
    const ChangeOutcome outcome = secrets.replace(held.name_space, held.name, *found);
    return history.settled(outcome, ChangeOutcome::Kind::done);
  };
  seen_->note(held);
  return settle(clients_, settings_.timeout, held, {}, change);
}

Result<Wrote> SecretStore::remove(const Held& held, const MayWrite& may_write) {
  const auto change = [&](HubSecrets& secrets, std::optional<Value>& found,
                          History& history) -> Attempt {
    if (!found) return std::optional(history.found());
    const std::optional<Mark> mark = mark_of_object(*found);
    if (!mark || !mark->is_of(held.mark)) return std::optional(Wrote::unchanged);
    if (!may_write()) return std::optional(Wrote::not_now);
    return remove_object(secrets, held, *found, history);
  };
  Result<Wrote> removed = settle(clients_, settings_.timeout, held, {}, change);
  seen_->forget(held);
  return removed;
}

Result<Held> SecretTarget::place_of(const Mark& mark) {
  // The format is part of the digest, because two formats may have had the same name, one after the
  // other.
  Mark of_format = mark;
  of_format.digest += ":" + std::string(name_of(format_));
  return store_.place_of(TRY(names_.name_of(format_, mark.name_space, mark.name)), of_format);
}

Result<Wrote> SecretTarget::write(const Held& held, const Issue& issue, const MayWrite& may_write) {
  Result<SecretForm> form = secret_form(format_, issue);
  if (!form) {
    form.error().cause = cause::kTargetUnusable;
    return form.error();
  }
  return store_.write(held, *form, may_write);
}

}  // namespace execcred::sync
