// SPDX-License-Identifier: Apache-2.0
// A number with a dimension, checked by the compiler and free at run time: one double in SI base
// units.
#pragma once

namespace sextant {

/// Exponents of the six base dimensions a performance model needs. Clock cycles are counts, so
/// "bytes per cycle" is Bytes and "per second" comes from multiplying by a clock in hertz.
struct Dimension {
  int time = 0;    ///< seconds
  int data = 0;    ///< bytes
  int work = 0;    ///< floating-point operations
  int energy = 0;  ///< joules
  int money = 0;   ///< US dollars
  int length = 0;  ///< metres
  friend constexpr bool operator==(const Dimension&, const Dimension&) = default;
};

constexpr Dimension operator+(Dimension a, Dimension b) {
  return {a.time + b.time,     a.data + b.data,   a.work + b.work,
          a.energy + b.energy, a.money + b.money, a.length + b.length};
}
constexpr Dimension operator-(Dimension a, Dimension b) {
  return {a.time - b.time,     a.data - b.data,   a.work - b.work,
          a.energy - b.energy, a.money - b.money, a.length - b.length};
}

template <Dimension D>
struct Quantity {
  double value = 0;
  static constexpr Dimension dimension = D;

  constexpr Quantity() = default;
  explicit constexpr Quantity(double v) : value(v) {}

  // Comparisons are written on values: a defaulted <=> costs g++ about 5 % in the hot path.
  friend constexpr bool operator==(Quantity a, Quantity b) { return a.value == b.value; }
  friend constexpr bool operator<(Quantity a, Quantity b) { return a.value < b.value; }
  friend constexpr bool operator>(Quantity a, Quantity b) { return a.value > b.value; }
  friend constexpr bool operator<=(Quantity a, Quantity b) { return a.value <= b.value; }
  friend constexpr bool operator>=(Quantity a, Quantity b) { return a.value >= b.value; }

  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value + b.value);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value - b.value);
  }
  friend constexpr Quantity operator-(Quantity a) { return Quantity(-a.value); }
  friend constexpr Quantity operator*(Quantity a, double s) { return Quantity(a.value * s); }
  friend constexpr Quantity operator*(double s, Quantity a) { return Quantity(s * a.value); }
  friend constexpr Quantity operator/(Quantity a, double s) { return Quantity(a.value / s); }
  constexpr Quantity& operator+=(Quantity b) { return value += b.value, *this; }
  constexpr Quantity& operator-=(Quantity b) { return value -= b.value, *this; }
  constexpr Quantity& operator*=(double s) { return value *= s, *this; }
  constexpr Quantity& operator/=(double s) { return value /= s, *this; }
};

namespace detail {
// A quotient without a dimension is a plain double.
template <Dimension D>
constexpr auto make(double v) {
  if constexpr (D == Dimension{}) {
    return v;
  } else {
    return Quantity<D>(v);
  }
}
}  // namespace detail

template <Dimension A, Dimension B>
constexpr auto operator*(Quantity<A> a, Quantity<B> b) {
  return detail::make<A + B>(a.value * b.value);
}
template <Dimension A, Dimension B>
constexpr auto operator/(Quantity<A> a, Quantity<B> b) {
  return detail::make<A - B>(a.value / b.value);
}
template <Dimension D>
constexpr auto operator/(double s, Quantity<D> q) {
  return detail::make<Dimension{} - D>(s / q.value);
}

template <Dimension D>
constexpr Quantity<D> max(Quantity<D> a, Quantity<D> b) {
  return a.value < b.value ? b : a;
}
template <Dimension D>
constexpr Quantity<D> min(Quantity<D> a, Quantity<D> b) {
  return b.value < a.value ? b : a;
}

}  // namespace sextant
