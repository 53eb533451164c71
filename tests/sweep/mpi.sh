#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two ranks give the table of one process, also when a rank or the writer is killed and the sweep is
# gone on with. Usage: mpi.sh PROGRAM MPI_PROGRAM DEVICES
# shellcheck source=tests/sweep/common.sh
program=$(realpath "$1")
mpi_program=$(realpath "$2")
. "$(dirname "$(realpath "$0")")/common.sh"
write_plan "$3"
# As root, on fewer cores than ranks, without asking the network who we are.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl=self,vader OMPI_MCA_plm_rsh_agent=
export OMPI_MCA_btl_vader_single_copy_mechanism=none
"$program" sweep plan.toml -o reference.db --threads 2 >/dev/null
table reference.db >reference.txt

mpirun -n 2 "$mpi_program" sweep plan.toml -o two.db >/dev/null
same two.db "two ranks"

# Without shared memory the writer has to attend to the counter.
OMPI_MCA_btl=self,tcp OMPI_MCA_osc=^sm mpirun -n 2 "$mpi_program" sweep plan.toml -o tcp.db >said
same tcp.db "two ranks over TCP"
grep -qE '^2 ranks, busy [0-9]+ to [0-9]+ % of the time, [0-9.]+ s of processors$' said

rank_of() { # PROCESS
  tr '\0' '\n' <"/proc/$1/environ" 2>/dev/null | sed -n 's/^OMPI_COMM_WORLD_RANK=//p'
}

for victim in 1 0; do
  database="killed$victim.db"
  mpirun -n 2 "$mpi_program" sweep plan.toml -o "$database" >/dev/null 2>&1 &
  background=$!
  wait_for_rows "$database" "$background"
  for process in $(cat "/proc/$background/task/"*/children 2>/dev/null); do
    if [ "$(rank_of "$process")" = "$victim" ]; then kill -KILL "$process" 2>/dev/null || true; fi
  done
  wait "$background" 2>/dev/null || true
  background=0
  killed=$(rows "$database")
  mpirun -n $((victim + 1)) "$mpi_program" sweep plan.toml -o "$database" --resume >/dev/null
  same "$database" "rank $victim killed after $killed rows"
  echo "the same table after a kill of rank $victim at $killed of $((20 * $3)) rows"
done

# What is wrong is said once, before anybody works.
if mpirun -n 2 "$mpi_program" sweep plan.toml -o two.db 2>again.err; then exit 1; fi
[ "$(grep -c 'is there already' again.err)" = 1 ] || { cat again.err >&2; exit 1; }
