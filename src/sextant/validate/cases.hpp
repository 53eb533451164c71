// SPDX-License-Identifier: Apache-2.0
// Case files: a scenario or a single kernel with one measured number beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sextant/cost/attention.hpp"
#include "sextant/cost/collective.hpp"
#include "sextant/cost/experts.hpp"
#include "sextant/cost/gemm.hpp"
#include "sextant/cost/stream.hpp"
#include "sextant/io/csv.hpp"
#include "sextant/validate/infer_cases.hpp"
#include "sextant/validate/protocol.hpp"
#include "sextant/validate/serving_cases.hpp"
#include "sextant/validate/train_cases.hpp"

namespace sextant {

/// A multiply; `quantize` puts row-wise quantisation of x before it.
struct GemmCase {
  Gemm shape;
  bool quantize = false;
};
enum class Phase : std::uint8_t { prefill, decode, backward, mixed };
constexpr auto names_of(Phase) {
  return std::array<std::string_view, 4>{"prefill", "decode", "backward", "mixed"};
}
/// What was timed: the kernel of attention alone, or with it the rotation of queries and keys and
/// the append to the cache.
enum class Timed : std::uint8_t { kernel, module };
constexpr auto names_of(Timed) { return std::array<std::string_view, 2>{"kernel", "module"}; }
struct AttentionCase {
  AttentionShape shape;
  Phase phase = Phase::prefill;
  std::optional<Timed> scope;  ///< nothing: as the library has it
  double decoding = 0;  ///< requests beside the prompt of a mixed phase, and their tokens each
  double decode_context = 0;
};
struct LatentCase {
  LatentShape shape;
  Phase phase = Phase::prefill;
  std::optional<Timed> scope;
};
struct ExpertsCase {
  ExpertLayer layer;
  bool unfused = false;  ///< routed and combined by general operators
};
struct StreamCase {
  StreamOp op = StreamOp::copy;
  Stream shape;
};

struct CollectiveCase {
  Collective op = Collective::all_reduce;
  Group group;
  Bytes bytes;
};

/// One row. What Sextant cannot express keeps the reason in `unsupported`.
struct Case {
  std::string id;
  std::string group;  ///< the file it came from, without its ending
  std::string kind;
  std::string device;    ///< preset name
  std::string system;    ///< preset name, of cases that are about several devices
  std::string provider;  ///< library of kernels or, empty for the system's, of collectives
  std::string family;    ///< rows of one family share shape dimensions: the unit of k-fold
  double measured = 0;   ///< in the unit of its metric
  std::string metric = "seconds";
  Protocol protocol;
  Adapters adapters;  ///< of a collective
  std::variant<std::monostate, GemmCase, AttentionCase, LatentCase, ExpertsCase, StreamCase,
               CollectiveCase, TrainCase, InferCase, ServingCase>
      kernel;
  std::string unsupported;
};

/// The kernel library that an attention backend names: "flash" and nothing are PyTorch's.
std::string library_of(const std::string& backend);

/// Reads a table of cases; throws InputError with every malformed cell and missing column at once.
std::vector<Case> read_cases(const CsvTable& table);

/// All cases of the files, or those inside the program.
std::vector<Case> load_cases(const std::vector<std::string>& files);

}  // namespace sextant
