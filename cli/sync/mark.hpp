// SPDX-License-Identifier: Apache-2.0
// The mark that execcred sync writes beside a credential: its ClusterProfile, and when it was
// issued. It is in the labels and annotations of a Secret, and in a file of a folder.
#pragma once

#include <execcred/base/result.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace execcred::sync {

// Labels of a Secret.
inline constexpr std::string_view kManagedBy = "app.kubernetes.io/managed-by";
inline constexpr std::string_view kManager = "execcred";
inline constexpr std::string_view kInstance = "execcred.io/instance";

// Annotations of a Secret.
inline constexpr std::string_view kProfileNamespace = "execcred.io/clusterprofile-namespace";
inline constexpr std::string_view kProfileName = "execcred.io/clusterprofile-name";
inline constexpr std::string_view kProfileUid = "execcred.io/clusterprofile-uid";
inline constexpr std::string_view kIssued = "execcred.io/issued";
inline constexpr std::string_view kExpires = "execcred.io/expires";
inline constexpr std::string_view kDigest = "execcred.io/digest";
inline constexpr std::string_view kExpired = "execcred.io/expired";

using Texts = std::map<std::string, std::string, std::less<>>;

struct Mark {
  std::string instance = {};
  std::string name_space = {};  // of the ClusterProfile
  std::string name = {};
  std::string uid = {};                                  // empty: the ClusterProfile is of a file
  std::chrono::sys_seconds issued = {};                  // when the plugin answered
  std::optional<std::chrono::sys_seconds> expires = {};  // nullopt: a credential without an end
  std::string digest = {};                               // of how the credential is obtained
  bool is_expired = false;                               // it says so

  std::string cluster() const { return name_space + "/" + name; }
  // Whether both marks have the same ClusterProfile, by its name, and the same instance; and
  // whether the uids are equal, or one of them is not known.
  bool is_of(const Mark& other) const;
  bool is_same_object(const Mark& other) const;
  // Whether what has this mark needs no other one while its credential is the same: how it is
  // obtained has not changed, and if readers see the end (`shows_end`), that has not changed, or is
  // now later and still far away.
  bool stands_for(const Mark& other, bool shows_end) const;
};

// nullopt for an object without this mark. A time of issue that cannot be read is the epoch, so
// that the credential is due. An end that cannot be read counts as none.
std::optional<Mark> mark_of(const Texts& labels, const Texts& annotations);
// Writes the mark's labels and annotations, which replace those of an earlier mark. Those of other
// programs stay.
void write_mark(const Mark& mark, Texts& labels, Texts& annotations);

// The content of the marker file in a cluster's folder.
std::string marker_text(const Mark& mark);
// Fails (configuration) if the text is not a marker.
Result<Mark> parse_marker(std::string_view text);

}  // namespace execcred::sync
