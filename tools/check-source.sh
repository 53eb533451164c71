#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks what compilers do not: modules depend one way only, third-party headers stay in their one
# file, every file says its licence. Usage: tools/check-source.sh [ROOT]
set -euo pipefail
cd "${1:-"$(dirname "$0")/.."}"

# What each module of src/sextant may include, besides itself. A new module gets a line here.
declare -A may_include=(
  [units]=""
  [spec]="units"
  [graph]="units spec"
  [cost]="units spec graph"
  [io]="units spec serving profile"
  [report]="units spec graph cost io predict serving"
  [predict]="units spec graph cost"
  [run]="units spec graph cost predict"
  [serving]="units spec graph cost predict"
  [profile]="units spec cost graph"
  [tech]="units spec graph cost predict"
  [scenario]="units spec graph cost predict run io"
  [import]="units spec graph cost predict run io scenario"
  [search]="units spec graph cost predict scenario serving"
  [validate]="units spec graph cost io predict scenario serving"
  [sweep]="units spec graph cost predict serving tech io scenario search"
  [study]="units spec graph cost predict run scenario tech io report validate"
  [design]="units spec graph cost predict scenario tech io report validate study search"
  [answer]="units spec graph cost predict serving run profile tech io report validate search sweep study design scenario import"
  [options]="units spec graph cost predict serving run profile tech io report validate search sweep study design scenario import answer"
)
# No files, sockets, clocks or printing here: these serve a program, a server and a page alike.
core="units spec graph cost predict serving profile run tech search report sweep answer"
# The places that start threads.
with_threads="src/sextant/search/parallel.hpp src/sextant/sweep/parallel.hpp"
# Each third-party header and the one place that may include it.
third_party=(
  'toml\+\+/|<toml\.hpp     src/sextant/io/toml.cpp'
  '<nlopt                   src/sextant/validate/fit.cpp'
  '<sqlite3                 src/sextant/io/store.cpp'
  '<mpi                     src/mpi/*'
  '<CLI/                    src/cli/*'
  '<httplib                 src/server/exchange.cpp'
  '<zlib                    src/sextant/io/inflate.cpp'
  '<pybind11/               src/python/module.cpp'
)
# Headers that print, wait or open files.
core_forbids='<(iostream|fstream|filesystem|thread|mutex|unistd\.h|sys/|cstdio>)'
max_lines=900
# Spelt in parts, so that this file passes its own check.
unfinished="TO""DO|FIX""ME|XX""X|HA""CK"

problems=0
problem() {
  echo "$1"
  problems=$((problems + 1))
}

# report FILE MESSAGE PATTERN: one problem per line of the file that matches.
report() {
  local line
  while IFS= read -r line; do
    [ -z "$line" ] || problem "$1:${line%%:*}: $2"
  done < <(grep -nE -- "$3" "$1" || true)
}

check_module() { # FILE MODULE
  local file=$1 module=$2 line target
  if [ -z "${may_include[$module]+known}" ]; then
    problem "$file:1: module '$module' is not in the table of tools/check-source.sh"
    return
  fi
  report "$file" "the library may not include the program" '^ *# *include *"(cli|server)/'
  case $file in *_test.cpp | */test_*.hpp) return ;; esac  # a test may set the scene with any module
  while IFS=: read -r line target; do
    [ -n "$line" ] || continue
    [ "$target" = "$module" ] && continue
    case " ${may_include[$module]} " in
      *" $target "*) ;;
      *) problem "$file:$line: module '$module' may not include '$target'" ;;
    esac
  done < <(sed -nE '/^ *# *include *"sextant\//{=;s/^ *# *include *"sextant\/([^/"]*).*/\1/p}' "$file" |
    paste -d: - -)
  case " $core " in
    *" $module "*)
      case " $with_threads " in *" $file "*) return ;; esac
      report "$file" "no input, output or threads in the core" "^ *# *include *$core_forbids"
      ;;
  esac
}

check_third_party() { # FILE
  local entry pattern home
  for entry in "${third_party[@]}"; do
    read -r pattern home <<<"$entry"
    # shellcheck disable=SC2254  # the home is a pattern
    case $1 in $home) continue ;; esac
    report "$1" "this header belongs to $home alone" "^ *# *include.*($pattern)"
  done
}

# A page without a server has none of these libraries: its list of sources leaves out who needs them.
check_site() {
  local entry pattern home
  [ -f src/site/CMakeLists.txt ] || return 0
  for entry in "${third_party[@]}"; do
    read -r pattern home <<<"$entry"
    case $home in *toml.cpp) continue ;; src/sextant/*.cpp) ;; *) continue ;; esac
    home=${home#src/sextant/}
    grep -qF "${home%.cpp}|" src/site/CMakeLists.txt ||
      problem "src/site/CMakeLists.txt: ${home} needs $pattern> and is not left out"
  done
}

check_text() { # FILE
  local first=1
  [ "$(head -c 2 "$1")" = "#!" ] && first=2
  sed -n "${first}p" "$1" | grep -q 'SPDX-License-Identifier: Apache-2.0' ||
    problem "$1:$first: the SPDX line is missing"
  report "$1" "unfinished; finish it or open an issue" "\\b($unfinished)\\b"
  [ "$(wc -l <"$1")" -le "$max_lines" ] || problem "$1:1: more than $max_lines lines"
  case $1 in
    Makefile) ;;
    *) report "$1" "a tab; indent with spaces" $'\t' ;;
  esac
}

# Two types of one name in one namespace are one to the linker, which keeps one destructor for both.
# Test programs that are never linked together may each have their own.
check_names() {
  local twice
  twice=$(grep -v '_test\.' <<<"$files" | grep '\.[ch]pp$' | xargs awk '
    FNR == 1 { space = ""; hidden = 0 }
    /^namespace \{/ { hidden = 1; next }
    /^\}  \/\/ namespace$/ { hidden = 0; next }
    /^namespace [A-Za-z:]+ \{/ { space = $2; next }
    /^(struct|class) [A-Za-z]+[^;]*\{/ && !hidden {
      name = space "::" $2
      if (name in at && at[name] != FILENAME) print FILENAME ":" FNR ": " name " is also in " at[name]
      at[name] = FILENAME
    }')
  [ -z "$twice" ] || problem "$twice"
}

files=$(find . -mindepth 1 \( -name '.?*' -o -name 'build*' -o -name node_modules \) -prune -o -type f \
  \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cmake' -o -name CMakeLists.txt -o -name '*.sh' \
  -o -name Makefile \) -print | sed 's|^\./||' | LC_ALL=C sort)
count=0
while IFS= read -r file; do
  count=$((count + 1))
  check_text "$file"
  case $file in
    *.cpp | *.hpp)
      check_third_party "$file"
      report "$file" "include from the root of src" '^ *# *include *"\.'
      ;;
  esac
  case $file in
    *.hpp) grep -q '^#pragma once' "$file" || problem "$file:1: #pragma once is missing" ;;
  esac
  case $file in
    src/cli/main.cpp) ;;
    src/cli/*.?pp) report "$file" "commands know no server" '^ *# *include *"server/' ;;
    src/sextant/*/*.?pp)
      module=${file#src/sextant/}
      check_module "$file" "${module%%/*}"
      ;;
  esac
done <<<"$files"
check_names
check_site

if [ "$problems" -gt 0 ]; then
  echo "$problems problems in $count files" >&2
  exit 1
fi
echo "$count files in order"
