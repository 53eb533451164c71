// SPDX-License-Identifier: Apache-2.0
// A step as execution traces of Chakra (mlcommons/chakra, schema/protobuf/et_def.proto), which
// ASTRA-sim and others run, and the files that ASTRA-sim wants beside them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sextant/predict/program.hpp"

namespace sextant {

class Chakra {
 public:
  /// `facts` are names and values that each file says of itself.
  Chakra(const Problem& problem, const Strategy& strategy,
         std::vector<std::pair<std::string, std::string>> facts);

  int ranks() const { return ranks_.count(); }
  /// The first rank of each stage.
  std::vector<int> representatives() const;
  std::size_t nodes(int rank) const;

  /// A rank's file: GlobalMetadata, then a Node each, all with their lengths before them.
  std::string trace(int rank);

  /// The groups of ranks that the traces so far name, as a communicator group file: JSON, their
  /// names and their ranks.
  std::string groups() const;

 private:
  struct Named {
    int name = 0;
    double ranks = 1;
  };
  Named group(Members kind, int rank);
  void node(std::string& out, const Program& program, std::size_t index, int rank,
            std::uint64_t micros);

  Strategy strategy_;
  std::vector<std::pair<std::string, std::string>> facts_;
  StepProgram step_;
  Ranks ranks_;
  std::map<std::vector<int>, int> groups_;
  std::map<std::pair<Members, int>, Named> known_;  ///< groups_ by kind and rank
};

/// The network of so many devices as ASTRA-sim's analytical back end reads it: YAML. Empty where
/// there is no network to speak of, for one device.
std::string astra_network(const Network& network, int devices);

}  // namespace sextant
