// SPDX-License-Identifier: Apache-2.0
// The config.json of a Hugging Face checkpoint as a model.
#pragma once

#include <string>
#include <vector>

#include "sextant/io/node.hpp"
#include "sextant/spec/model.hpp"

namespace sextant {

/// The values of "model_type" that model_from_hugging_face() knows, sorted.
std::vector<std::string> hugging_face_types();

/// Maps the shape that a config.json describes; keys that do not bear on it are passed over. The
/// model's name is left empty. Throws InputError with everything that is missing or wrong.
Model model_from_hugging_face(const Document& document);

/// Names of files in which some tools say how weights are quantised, beside a config.json that does
/// not.
std::vector<std::string> quantisation_files();

/// What such a file says of the model.
void quantise_as(const Document& document, Model& model);

}  // namespace sextant
