// SPDX-License-Identifier: Apache-2.0
#include "cli/answer_types.hpp"
#include "manual/manual.hpp"

namespace sextant::manual {

Page answers_module() {
  return {"ui/answers.ts",
          "// SPDX-License-Identifier: Apache-2.0\n"
          "// What the API answers, in SI base units. Written by sextant-manual from the answers\n"
          "// themselves: after a change, copy build/ui/answers.ts here.\n\n" +
              cli::answer_types().type_script()};
}

}  // namespace sextant::manual
