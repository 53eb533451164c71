// SPDX-License-Identifier: Apache-2.0
// A kernel library as numbers: what attention, expert, streaming and quantising kernels of a
// software stack cost beyond the hardware's own limits. Cycles and shares only, so that one library
// serves every device; `sextant calibrate --kernels` fits them over all devices at once.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sextant/spec/describe.hpp"
#include "sextant/spec/device.hpp"
#include "sextant/units/units.hpp"

namespace sextant {

/// Attention over a whole prompt, forward or backward (cost/attention.cpp).
struct PrefillKernel {
  Seconds start{5e-6};      ///< launches of the module
  double traffic = 1;       ///< bytes moved over the least possible
  double efficiency = 0.6;  ///< share of the matrix issue rate
  /// 16-bit FLOP a clock of the cores on which it was found, where threads feed the matrix units:
  /// others lose as many cycles, whatever they multiply in one. 0: the share holds anywhere.
  double width = 0;
  double softmax = 0.5;       ///< exponentials that are not hidden behind the matrix units
  double tile_cycles = 2000;  ///< start and end of one block of queries
  double imbalance = 0.6;     ///< causal: share of the longest block that ends alone
  bool serial = false;        ///< nobody multiplies while a warp exponentiates
  double keys = 1;            ///< a block of queries goes over so many at a time, whole
  /// Every sequence of a launch gets the blocks of the longest (FlashAttention-2): one that finds
  /// no query of its own.
  double empty_cycles = 0;
};
template <class V>
void describe(V& v, PrefillKernel& k) {
  v("start", k.start, {.help = "launches of the module", .max = 1});
  v("traffic", k.traffic, {.help = "bytes moved over the least possible", .max = 100});
  v("efficiency", k.efficiency, {.help = "share of the matrix issue rate", .min = 0.01, .max = 1});
  v("width", k.width,
    {.help = "FLOP a clock of the cores it was found on; 0: the share holds anywhere", .max = 1e6});
  v("softmax", k.softmax, {.help = "exponentials not hidden, of one a score", .max = 100});
  v("tile_cycles", k.tile_cycles, {.help = "start and end of one block of queries", .max = 1e7});
  v("imbalance", k.imbalance,
    {.help = "causal: share of the longest block that ends alone", .max = 4});
  v("serial", k.serial, {.help = "exponentials come on top of the multiplies"});
  v("keys", k.keys, {.help = "keys a block of queries goes over at a time", .min = 1, .max = 4096});
  v("empty_cycles", k.empty_cycles,
    {.help = "a block of the longest sequence where a shorter one has no queries", .max = 1e6});
}

/// Vector operations of one score where attention drops some: a random number, and what it decides.
struct DropoutKernel {
  double forward = 12;
  double backward = 16;
};
template <class V>
void describe(V& v, DropoutKernel& k) {
  v("forward", k.forward, {.help = "vector operations a score", .max = 1e4});
  v("backward", k.backward, {.help = "the same of its gradient", .max = 1e4});
}

/// Attention of single tokens over a cache, split over the cache where that fills the device.
struct DecodeKernel {
  Seconds start{5e-6};             ///< launches of the module
  double memory_efficiency = 0.9;  ///< share of peak bandwidth on a long cache
  double block_cycles = 4000;      ///< start and end of one block of cache
  Bytes block_bytes{30};           ///< bytes a clock one block takes in
  Bytes split_bytes{0};            ///< the same where caches are split; 0: no different
  double resident = 1;             ///< blocks a core works on at a time
  /// What two whole blocks on one core take together, over one alone: cores take them in pairs, and
  /// a last one by itself. 0: blocks share cores evenly, `resident` at a time.
  double pair = 0;
  double chunk = 256;  ///< shortest piece a cache is split into, tokens
  /// Pieces fill the device so often at most, whether that pays or not; 0: once, where it pays.
  double waves = 0;
  Seconds combine{2e-6};     ///< joining the pieces
  Seconds combine_piece{0};  ///< and for each piece of a cache
  double group = 0.2;        ///< extra cost for every 8 queries that share a cache head
  double efficiency = 0.6;   ///< share of the matrix issue rate (latent attention)
  double traffic = 1;        ///< bytes of queries and results over the least possible
};
template <class V>
void describe(V& v, DecodeKernel& k) {
  v("start", k.start, {.help = "launches of the module", .max = 1});
  v("memory_efficiency", k.memory_efficiency,
    {.help = "share of peak bandwidth on a long cache", .min = 0.01, .max = 1});
  v("block_cycles", k.block_cycles, {.help = "start and end of one block", .max = 1e7});
  v("block_bytes", k.block_bytes, {.help = "bytes a clock one block takes in", .min = 0.1});
  v("split_bytes", k.split_bytes,
    {.help = "the same where caches are split; 0: no different", .max = 1e6});
  v("resident", k.resident, {.help = "blocks a core works on at a time", .min = 0.05, .max = 64});
  v("pair", k.pair,
    {.help = "time of two blocks on a core over one's alone; 0: blocks share cores evenly",
     .max = 2});
  v("chunk", k.chunk, {.help = "shortest piece a cache is split into", .min = 1, .max = 1e9});
  v("waves", k.waves,
    {.help = "pieces fill the device so often at most; 0: once, where that pays", .max = 1e3});
  v("combine", k.combine, {.help = "joining the pieces", .max = 1});
  v("combine_piece", k.combine_piece, {.help = "and for each piece of a cache", .max = 1});
  v("group", k.group, {.help = "extra cost for every 8 queries of a cache head", .max = 100});
  v("efficiency", k.efficiency, {.help = "share of the matrix issue rate", .min = 0.01, .max = 1});
  v("traffic", k.traffic, {.help = "bytes of queries and results", .max = 100});
}

/// Route, two grouped multiplies and combine of a mixture-of-experts layer (cost/experts.cpp).
struct ExpertKernel {
  Seconds start{26e-6};  ///< launches: route, sort, permute, two multiplies, combine
  double memory_efficiency = 0.9;
  double efficiency = 0.8;     ///< share of the matrix issue rate
  double feed = 0.013;         ///< as Mechanism::feed
  double tile_cycles = 3500;   ///< starting one tile of one expert
  double drain_cycles = 2500;  ///< draining a tile of 32768 results
  double traffic = 1.8;        ///< permute and combine bytes over the least possible
  Seconds per_expert{2e-8};    ///< bookkeeping of one active expert
  double route_cycles = 100;   ///< a token's choice, a core
};
template <class V>
void describe(V& v, ExpertKernel& k) {
  v("start", k.start, {.help = "launches of the layer", .max = 1});
  v("memory_efficiency", k.memory_efficiency,
    {.help = "share of peak bandwidth on the weights", .min = 0.01, .max = 1});
  v("efficiency", k.efficiency, {.help = "share of the matrix issue rate", .min = 0.01, .max = 1});
  v("feed", k.feed,
    {.help = "bytes a clock into a core for each 16-bit FLOP a clock", .min = 1e-4, .max = 10});
  v("tile_cycles", k.tile_cycles, {.help = "starting one tile of one expert", .max = 1e7});
  v("drain_cycles", k.drain_cycles, {.help = "draining a tile of 32768 results", .max = 1e7});
  v("traffic", k.traffic, {.help = "permute and combine bytes", .max = 100});
  v("per_expert", k.per_expert, {.help = "bookkeeping of one active expert", .max = 1e-3});
  v("route_cycles", k.route_cycles, {.help = "a token's choice, a core", .max = 1e6});
}

/// Quantising a matrix row by row before an 8-bit multiply.
struct QuantizeKernel {
  Seconds start{1.5e-6};
  double row_cycles = 1300;  ///< one row, before and after its values
  double elements = 2.3;     ///< values a clock of one row
  double step = 1;           ///< values a block takes at once: a row is so many whole steps
  double blocks = 1;         ///< rows a core works on at once
};
template <class V>
void describe(V& v, QuantizeKernel& k) {
  v("start", k.start, {.help = "launch", .max = 1});
  v("row_cycles", k.row_cycles, {.help = "one row, before and after its values", .max = 1e7});
  v("elements", k.elements, {.help = "values a clock of one row", .min = 0.01, .max = 1e4});
  v("step", k.step, {.help = "values a block takes at once", .min = 1, .max = 1e6});
  v("blocks", k.blocks, {.help = "rows a core works on at once", .min = 1, .max = 64});
}

/// Operators that only stream.
enum class StreamOp : std::uint8_t {
  copy,
  add,
  gelu,
  silu_mul,
  dropout,
  layernorm,
  rmsnorm,
  add_rmsnorm,
  softmax,
  adamw,
  count
};
constexpr auto names_of(StreamOp) {
  return std::array<std::string_view, 10>{"copy",    "add",       "gelu",    "silu_mul",
                                          "dropout", "layernorm", "rmsnorm", "add_rmsnorm",
                                          "softmax", "adamw"};
}

/// One streaming operator (cost/stream.cpp).
struct StreamKernel {
  double start_cycles = 2000;  ///< launch and drain
  double memory_efficiency = 0.9;
  double elements = 8;       ///< a clock a core, once all cores are busy
  double narrow_cols = 0;    ///< the longest row of which that holds; 0: any
  double wide_cols = 0;      ///< from here on it is `wide_elements`, in between something between
  double wide_elements = 0;  ///< of another kernel, or of rows that are read again
  double row_cycles = 0;     ///< cycles an element of the one row a block works on
  double arithmetic = 1;     ///< share of the issue that computes, and draws power; 0: moves only
};
template <class V>
void describe(V& v, StreamKernel& k) {
  v("start_cycles", k.start_cycles, {.help = "launch and drain", .max = 1e7});
  v("memory_efficiency", k.memory_efficiency,
    {.help = "share of peak bandwidth", .min = 0.01, .max = 1});
  v("elements", k.elements, {.help = "elements a clock a core", .min = 0.001, .max = 1e4});
  v("narrow_cols", k.narrow_cols, {.help = "longest row of which that holds; 0: any", .max = 1e9});
  v("wide_cols", k.wide_cols, {.help = "from here on it is wide_elements", .max = 1e9});
  v("wide_elements", k.wide_elements, {.help = "elements a clock a core of long rows", .max = 1e4});
  v("row_cycles", k.row_cycles, {.help = "cycles an element of one row, alone", .max = 1e4});
  v("arithmetic", k.arithmetic, {.help = "share of the issue that computes", .max = 1});
}

/// Multiplies of a few rows, as kernels that stream the weights past them. Each core takes in what
/// it has asked for and no more, so a device with much bandwidth a core falls short of it.
struct FewRowsKernel {
  int rows = 0;           ///< that they take at most; 0: there are none
  Bytes core_bytes{100};  ///< of weights a clock and core
  int whole = 0;          ///< rows of which routers and ways into a latent space have their own
};
template <class V>
void describe(V& v, FewRowsKernel& k) {
  v("rows", k.rows, {.help = "rows they take at most; 0: there are none", .max = 1e4});
  v("core_bytes", k.core_bytes, {.help = "bytes of weights a clock and core", .min = 0.1});
  v("whole", k.whole,
    {.help = "rows up to which routers and ways into a latent space have kernels of their own, "
             "whose blocks make whole outputs",
     .max = 1e4});
}

/// All kernels of one library.
struct Kernels {
  std::string name;
  std::string notes;
  bool whole_module =
      false;          ///< attention rotates queries and keys and appends to the cache itself
  bool sinks = true;  ///< attention takes learned sinks
  /// In place of all kernels a roofline, as studies assume it: this share of a type's peak, the
  /// whole of the bandwidth, no power limit, and nothing for operators that only move bytes.
  double roofline = 0;
  PrefillKernel prefill;
  PrefillKernel prefill_8bit;
  /// Of served models whose attention has learned sinks; that starts in no time: as the others.
  PrefillKernel prefill_sinks{.start = Seconds(0)};
  PrefillKernel backward;
  DecodeKernel decode;  ///< queries that share a cache head in one block
  DecodeKernel decode_8bit;
  DecodeKernel decode_single;  ///< one block a query head
  DecodeKernel decode_single_8bit;
  int group_min = 1;     ///< smallest group of queries `decode` takes
  int group_max = 1024;  ///< and the largest
  /// Share of the cores that its pieces of 16-bit caches must fill, or `decode_single` runs.
  double group_fill = 0;
  DropoutKernel dropout;
  PrefillKernel latent_prefill{.start = Seconds(0)};  ///< that starts in no time: as `prefill`
  PrefillKernel latent_prefill_8bit{.start = Seconds(0)};
  DecodeKernel latent_decode;
  DecodeKernel latent_decode_8bit;
  /// Prompts' latent attention over chosen tokens is a kernel of its own for so many heads, or
  /// twice, three times as many; fewer are padded. 0: all tokens and a mask where that is faster.
  int sparse_heads = 0;
  ExpertKernel experts;
  ExpertKernel experts_8bit;
  ExpertKernel experts_unfused;  ///< routed and combined by general operators
  FewRowsKernel few_rows;
  double issue_4bit = 0;  ///< share of the matrix rate that 4-bit multiplies reach; 0: the device's
  double issue_packed = 0;          ///< the same of those that widen their weights on the way
  double issue_packed_experts = 0;  ///< of those, of experts; 0: as the others
  /// Operations of the lanes to widen a weight of 8 bits or fewer, for each tile, where the
  /// multiply takes the lanes too.
  double widening = 0;
  /// Cycles of a core for each sum and block of scales of its own multiplies, in place of
  /// Mechanism::promotion; 0: the device's.
  double block_cycles = 0;
  QuantizeKernel quantize;
  QuantizeKernel quantize_4bit;  ///< to blocks of 16 or 32 values with a scale each
  Table<StreamKernel, StreamOp> stream;
  Provenance provenance;
};
template <class V>
void describe(V& v, Kernels& k) {
  v("name", k.name, {.help = "preset name", .inert = "a name"});
  v("notes", k.notes, {.help = "remarks", .inert = "a remark"});
  v("whole_module", k.whole_module, {.help = "attention rotates and appends to the cache itself"});
  v("sinks", k.sinks, {.help = "attention takes learned sinks"});
  v("roofline", k.roofline,
    {.help = "share of peak of a roofline in place of all kernels; 0: they count", .max = 1});
  v("prefill", k.prefill, {.help = "attention over a prompt"});
  v("prefill_8bit", k.prefill_8bit, {.help = "the same with an 8-bit cache"});
  v("prefill_sinks", k.prefill_sinks,
    {.help = "the same of served models with learned sinks; start 0: as the others"});
  v("backward", k.backward, {.help = "its gradient"});
  v("decode", k.decode, {.help = "attention of single tokens, grouped queries"});
  v("decode_8bit", k.decode_8bit, {.help = "the same with an 8-bit cache"});
  v("decode_single", k.decode_single, {.help = "one block a query head"});
  v("decode_single_8bit", k.decode_single_8bit, {.help = "the same with an 8-bit cache"});
  v("group_min", k.group_min, {.help = "smallest group that decode takes", .min = 1, .max = 1e6});
  v("group_max", k.group_max, {.help = "largest group that decode takes", .min = 1, .max = 1e6});
  v("group_fill", k.group_fill,
    {.help = "share of the cores that decode must fill, or decode_single runs", .max = 100});
  v("dropout", k.dropout, {.help = "scores that attention drops, in training"});
  v("latent_prefill", k.latent_prefill,
    {.help = "latent attention over a prompt; start 0: as prefill"});
  v("latent_prefill_8bit", k.latent_prefill_8bit, {.help = "the same with an 8-bit cache"});
  v("latent_decode", k.latent_decode, {.help = "latent attention of single tokens"});
  v("latent_decode_8bit", k.latent_decode_8bit, {.help = "the same with an 8-bit cache"});
  v("sparse_heads", k.sparse_heads,
    {.help = "heads that latent attention over a prompt's chosen tokens takes at a time, fewer are "
             "padded; 0: all tokens and a mask where that is faster",
     .max = 1024});
  v("experts", k.experts, {.help = "mixture-of-experts layer"});
  v("experts_8bit", k.experts_8bit, {.help = "the same with 8-bit weights"});
  v("experts_unfused", k.experts_unfused, {.help = "the same from general operators"});
  v("few_rows", k.few_rows, {.help = "multiplies of a few rows"});
  v("issue_4bit", k.issue_4bit,
    {.help =
         "share of the matrix rate that 4-bit multiplies reach; 0: as the device's are measured",
     .max = 1});
  v("issue_packed", k.issue_packed,
    {.help = "the same of multiplies that widen their weights on the way to the matrix units",
     .max = 1});
  v("issue_packed_experts", k.issue_packed_experts,
    {.help = "of those, of experts; 0: as the others", .max = 1});
  v("widening", k.widening,
    {.help = "operations to widen a weight of 8 bits or fewer, where the multiply takes the lanes",
     .max = 1000});
  v("block_cycles", k.block_cycles,
    {.help = "of a core for each sum and block of scales of its own multiplies; 0: the device's "
             "promotion",
     .max = 1e3});
  v("quantize", k.quantize, {.help = "quantising rows on the fly"});
  v("quantize_4bit", k.quantize_4bit, {.help = "the same to 4 bits, a scale a block"});
  v("stream", k.stream, {.help = "streaming operators"});
  v("provenance", k.provenance,
    {.help = "where the constants come from", .inert = "says where constants come from"});
}

}  // namespace sextant
