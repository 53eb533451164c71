// SPDX-License-Identifier: Apache-2.0
// The one place where a kernel case meets the kernel models: validation, calibration and `sextant
// ops` all come through here.
#pragma once

#include "sextant/cost/power.hpp"
#include "sextant/spec/collectives.hpp"
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

/// A collective, through these adapters where they are not the preset's.
CollectiveCost evaluate_collective(const CollectiveCase& c, const Network& network,
                                   const CollectiveLibrary& library, const Adapters& adapters = {});
/// A collective as it was measured.
KernelCost evaluate_case(const Case& c, const Network& network, const CollectiveLibrary& library);

/// A case as it was measured: cache residency, repeats and host time of its protocol included.
KernelCost evaluate_case(const Case& c, const Chip& chip, const Kernels& kernels);

}  // namespace sextant
