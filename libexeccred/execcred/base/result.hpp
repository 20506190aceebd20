// SPDX-License-Identifier: Apache-2.0
// A value or an Error. The member names are a subset of std::expected's (C++23).
#pragma once

#include <execcred/base/error.hpp>

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace execcred {

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  // NOLINTNEXTLINE(google-explicit-constructor): `return value;` is how results are made
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): `return Error{…};` likewise
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  // Only of a success; of a failure it is a fault of the caller, and throws
  // std::bad_variant_access.
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // Only of a failure, likewise.
  Error& error() & { return std::get<1>(state_); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

  // Adds what was being done to the context of an error.
  Result&& context(std::string doing) && {
    if (!has_value()) error().context.push_back(std::move(doing));
    return std::move(*this);
  }

  // Sets the remedy of an error that has none: the code that made the error knows a better one.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): moved from, which clang-tidy overlooks
  Result&& hint(std::string remedy) && {
    if (!has_value() && error().hint.empty()) error().hint = std::move(remedy);
    return std::move(*this);
  }

  // Sets the cause, an id of docs/causes.md, of an error that has none.
  Result&& cause(std::string_view id) && {
    if (!has_value() && error().cause.empty()) error().cause = id;
    return std::move(*this);
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): `return Error{…};` is how failures are made
  Result(Error error) : error_(std::move(error)) {}

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  void value() const {}

  Error& error() & { return *error_; }
  const Error& error() const& { return *error_; }
  Error&& error() && { return *std::move(error_); }

  Result&& context(std::string doing) && {
    if (error_) error_->context.push_back(std::move(doing));
    return std::move(*this);
  }

  // NOLINTNEXTLINE(performance-unnecessary-value-param): as above
  Result&& hint(std::string remedy) && {
    if (error_ && error_->hint.empty()) error_->hint = std::move(remedy);
    return std::move(*this);
  }

  Result&& cause(std::string_view id) && {
    if (error_ && error_->cause.empty()) error_->cause = id;
    return std::move(*this);
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace execcred

// `const Url url = EXECCRED_TRY(parse_url(text));` gives the value of a Result, or makes the
// enclosing function return its error. The macro can also be a statement of its own. Use it at most
// once in a statement. (It is a statement expression, an extension of g++ and clang.)
#define EXECCRED_TRY(expression) \
  EXECCRED_TRY_AS(EXECCRED_JOIN(execcred_result_, __LINE__), expression)

// Only for EXECCRED_TRY.
// NOLINTBEGIN(bugprone-macro-parentheses): `result` is a new name
#define EXECCRED_TRY_AS(result, expression)                      \
  __extension__({                                                \
    auto result = (expression);                                  \
    if (!(result).has_value()) return std::move(result).error(); \
    std::move(result).value();                                   \
  })
// NOLINTEND(bugprone-macro-parentheses)
#define EXECCRED_JOIN(a, b) EXECCRED_JOIN_INNER(a, b)
#define EXECCRED_JOIN_INNER(a, b) a##b
