#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shows that tools/check-source.sh passes a good tree and names each kind of fault in a bad one.
set -euo pipefail
check=$(cd "$(dirname "$0")/../tools" && pwd)/check-source.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
spdx='// SPDX-License-Identifier: Apache-2.0'
failures=0

fresh() {
  rm -rf "$tree"
  mkdir -p "$tree"/src/sextant/{units,spec,cost,io,report,validate} "$tree/src/cli" "$tree/build/x"
  put src/sextant/units/a.hpp "$spdx" '#pragma once'
  put src/sextant/cost/a.hpp "$spdx" '#pragma once' '#include "sextant/spec/a.hpp"' '#include <cmath>'
  put src/sextant/io/toml.cpp "$spdx" '#include <toml++/toml.h>'
  put src/sextant/validate/fit.cpp "$spdx" '#include <nlopt.hpp>' '#include "sextant/io/a.hpp"'
  put src/sextant/cost/a_test.cpp "$spdx" '#include "sextant/io/a.hpp"'
  put src/sextant/sweep/parallel.hpp "$spdx" '#pragma once' '#include <thread>'
  put src/cli/main.cpp "$spdx" '#include <CLI/CLI.hpp>' '#include <iostream>'
  put tools/a.sh '#!/bin/sh' '# SPDX-License-Identifier: Apache-2.0'
  put build/x/generated.cpp 'int x;'
}
put() { # FILE LINE…
  mkdir -p "$(dirname "$tree/$1")"
  printf '%s\n' "${@:2}" >"$tree/$1"
}
expect() { # TEXT: the check fails and says so
  local output
  if output=$(bash "$check" "$tree" 2>&1); then
    echo "not caught: $1"
    failures=$((failures + 1))
  elif ! grep -qF -- "$1" <<<"$output"; then
    echo "expected '$1', got: $output"
    failures=$((failures + 1))
  fi
}

fresh
bash "$check" "$tree" >/dev/null || { echo "a good tree is refused"; exit 1; }

put src/site/CMakeLists.txt '# SPDX-License-Identifier: Apache-2.0' 'EXCLUDE REGEX "/(io/store|validate/calibrate|io/inflate|cli/main)"'
expect "src/site/CMakeLists.txt: validate/fit.cpp needs <nlopt> and is not left out"

edge() { # FILE INCLUDE MESSAGE
  fresh
  put "$1" "$spdx" '#pragma once' "#include $2"
  expect "$1:3: $3"
}
edge src/sextant/units/b.hpp '"sextant/spec/a.hpp"' "module 'units' may not include 'spec'"
edge src/sextant/spec/b.cpp '"sextant/cost/a.hpp"' "module 'spec' may not include 'cost'"
edge src/sextant/cost/b.cpp '"sextant/report/a.hpp"' "module 'cost' may not include 'report'"
edge src/sextant/io/b.cpp '"sextant/cost/a.hpp"' "module 'io' may not include 'cost'"
edge src/sextant/report/b.cpp '"sextant/answer/a.hpp"' "module 'report' may not include 'answer'"
edge src/sextant/validate/b.cpp '"sextant/report/a.hpp"' "module 'validate' may not include 'report'"
edge src/sextant/validate/b.cpp '"cli/a.hpp"' "the library may not include the program"
edge src/sextant/cost/b.cpp '"../units/a.hpp"' "include from the root of src"
edge src/sextant/cost/b.cpp '<iostream>' "no input, output or threads in the core"
edge src/sextant/sweep/b.hpp '<thread>' "no input, output or threads in the core"
edge src/sextant/io/b.cpp '<sqlite3.h>' "this header belongs to src/sextant/io/store.cpp alone"
edge src/cli/b.cpp '"server/a.hpp"' "commands know no server"
edge src/cli/b.cpp '<mpi.h>' "this header belongs to src/mpi/* alone"
edge src/sextant/spec/b.cpp '<toml++/toml.h>' "this header belongs to src/sextant/io/toml.cpp alone"
edge src/sextant/io/node.cpp '<nlopt.hpp>' "this header belongs to src/sextant/validate/fit.cpp alone"
edge src/cli/fit.cpp '<nlopt.hpp>' "this header belongs to src/sextant/validate/fit.cpp alone"
edge src/sextant/io/b.cpp '<CLI/CLI.hpp>' "this header belongs to src/cli/* alone"

fresh; put src/sextant/new/a.cpp "$spdx"; expect "module 'new' is not in the table"
fresh; put src/sextant/spec/b.cpp 'int x;'; expect "spec/b.cpp:1: the SPDX line is missing"
fresh; put tools/b.sh '#!/bin/sh' 'true'; expect "tools/b.sh:2: the SPDX line is missing"
fresh; put src/sextant/spec/b.hpp "$spdx"; expect "#pragma once is missing"
fresh; put src/cli/b.cpp "$spdx" $'\tint x;'; expect "src/cli/b.cpp:2: a tab"
fresh; put src/cli/b.cpp "$spdx" "// TO""DO later"; expect "src/cli/b.cpp:2: unfinished"
fresh
put src/sextant/spec/b.hpp "$spdx" '#pragma once' 'namespace sextant {' 'struct Part {' '};'
put src/sextant/cost/b.hpp "$spdx" '#pragma once' 'namespace sextant {' 'struct Part {' '};'
expect "src/sextant/spec/b.hpp:4: sextant::Part is also in src/sextant/cost/b.hpp"
fresh; put src/cli/b.cpp "$spdx" {1..900}; expect "more than 900 lines"

[ "$failures" = 0 ] || { echo "$failures faults went unnoticed"; exit 1; }
echo "every fault is caught"
