// SPDX-License-Identifier: Apache-2.0
// The one place where a kernel case meets the kernel models: validation, calibration and `sextant
// ops` all come through here.
#pragma once

#include "sextant/cost/power.hpp"
#include "sextant/spec/collectives.hpp"
#include "sextant/spec/errors.hpp"
#include "sextant/spec/kernels.hpp"
#include "sextant/validate/cases.hpp"

namespace sextant {

/// The kernel at the clock that power allows, averaged over the load.
KernelCost evaluate_kernel(const GemmCase& c, const Chip& chip, const Kernels& kernels, Load load);
KernelCost evaluate_kernel(const AttentionCase& c, const Chip& chip, const Kernels& kernels,
                           Load load);
KernelCost evaluate_kernel(const LatentCase& c, const Chip& chip, const Kernels& kernels,
                           Load load);
KernelCost evaluate_kernel(const ExpertsCase& c, const Chip& chip, const Kernels& kernels,
                           Load load);
KernelCost evaluate_kernel(const StreamCase& c, const Chip& chip, const Kernels& kernels,
                           Load load);

/// What makes the error of a kernel like those of others.
Asked asked_by(const GemmCase& c, const KernelCost& cost);
Asked asked_by(const AttentionCase& c, const KernelCost& cost);
Asked asked_by(const LatentCase& c, const KernelCost& cost);
Asked asked_by(const ExpertsCase& c, const KernelCost& cost);
Asked asked_by(const StreamCase& c, const KernelCost& cost);

/// A collective, through these adapters where they are not the preset's.
CollectiveCost evaluate_collective(const CollectiveCase& c, const Network& network,
                                   const CollectiveLibrary& library, const Adapters& adapters = {});
/// A collective as it was measured.
KernelCost evaluate_case(const Case& c, const Network& network, const CollectiveLibrary& library);

/// A case as it was measured: cache residency, repeats and host time of its protocol included.
KernelCost evaluate_case(const Case& c, const Chip& chip, const Kernels& kernels);

}  // namespace sextant
