// SPDX-License-Identifier: Apache-2.0
// What the standard library of Debian's emscripten (3.1.6) lacks of C++20, as far as the core uses
// it. Included before every source of the site, and of nothing else.
#pragma once

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <version>

namespace std {

#if !defined(__cpp_lib_bit_cast)
template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}
#endif

#if !defined(__cpp_lib_jthread)
class stop_token {
 public:
  bool stop_requested() const noexcept { return true; }
};

/// There are no threads in a page's worker: whoever wants more than his own is refused, as
/// std::thread does.
class jthread {
 public:
  jthread() = default;
  template <class Work, class... Arguments>
  requires(!is_same_v<remove_cvref_t<Work>, jthread>) explicit jthread(Work&&, Arguments&&...) {
    throw system_error(make_error_code(errc::resource_unavailable_try_again));
  }
};
#endif

#if !defined(__cpp_lib_to_chars)
/// By strtod, which rounds correctly as from_chars does; it takes more (blanks, signs,
/// hexadecimal), which is refused here.
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  const char* at = first;
  if (at != last && *at == '-') ++at;
  const bool starts = at != last && ((*at >= '0' && *at <= '9') || *at == '.' || *at == 'i' ||
                                     *at == 'I' || *at == 'n' || *at == 'N');
  const bool hexadecimal = last - at > 1 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
  if (!starts) return {first, errc::invalid_argument};
  const string text(first, hexadecimal ? at + 1 : last);
  char* end = nullptr;
  errno = 0;
  const double read = strtod(text.c_str(), &end);
  if (end == text.c_str()) return {first, errc::invalid_argument};
  const char* stop = first + (end - text.c_str());
  if (errno == ERANGE) return {stop, errc::result_out_of_range};
  value = read;
  return {stop, errc{}};
}
#endif

}  // namespace std
