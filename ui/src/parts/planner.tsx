// SPDX-License-Identifier: Apache-2.0
// How few GPUs keep the limits: layouts of engines, simulated.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { inlined, post } from '../api';
import { digits, grouped, seconds } from '../format';
import { problemsIn } from '../live';
import { engineFields, keyOf, limitNames, limitOf, traced } from '../serving';
import { change, numberIn } from '../state';
import type { Fields, Problem } from '../types';
import { Problems } from './fields';
import { SaveCsv } from './figure';
import { Table } from './table';
import type { Column } from './table';

/** One layout of a search for capacity. */
interface Layout {
  strategy: { tp: number; pp: number; dp: number; ep: number };
  prediction: {
    devices: number;
    replicas: number;
    decode_replicas: number;
    most_requests_per_second: number;
    headroom: number;
    ttft_p99_seconds: number;
    tpot_p99_seconds: number;
    dollars_per_million_tokens?: number;
  };
}

interface Plan {
  key: string;
  layouts: Layout[];
  rejected: Record<string, number>;
}

/** What the view asks about, of requests and engines; how engines are laid out is what is sought. */
function planRequest(body: Fields): Fields {
  const names = [...engineFields, 'runtime', 'rate', 'input', 'output', 'lengths', 'price', ...limitNames];
  const kept = Object.entries(body).filter(([name]) => names.includes(name));
  const several = new Set(['precision', 'kv_precision']); // a search may try more than one
  return {
    ...(Object.fromEntries(kept.map(([name, value]) => [name, several.has(name) ? [value] : value])) as Fields),
    traffic: body['arrivals'] ?? 'poisson',
    gpus: numberIn('gpus_most', 64),
  };
}

const engines = ({ prediction: p }: Layout): string =>
  p.decode_replicas > 0 ? `${p.replicas} for prompts, ${p.decode_replicas} for tokens` : grouped(p.replicas);

const degrees = ['tp', 'pp', 'dp', 'ep'] as const;

function take({ strategy, prediction }: Layout): void {
  const two = prediction.decode_replicas > 0;
  change({
    ...Object.fromEntries(degrees.map((name) => [name, strategy[name] > 1 ? strategy[name] : undefined])),
    tp: strategy.tp,
    replicas: two ? undefined : prediction.replicas,
    pools: two ? '2' : undefined,
    prefill_workers: two ? prediction.replicas : undefined,
    decode_workers: two ? prediction.decode_replicas : undefined,
    prefill_tp: undefined,
    decode_tp: undefined,
  });
}

const degreesOf = ({ strategy }: Layout): string =>
  degrees
    .filter((name) => strategy[name] > 1)
    .map((name) => `${name} ${strategy[name]}`)
    .join(', ') || 'one GPU';

const layoutColumns: Column<Layout>[] = [
  { label: 'GPUs', of: ({ prediction }) => grouped(prediction.devices) },
  { label: 'engines', kind: 'text', of: engines },
  { label: 'each', kind: 'text', of: degreesOf },
  { label: 'TTFT p99', of: ({ prediction }) => seconds(prediction.ttft_p99_seconds) },
  { label: 'TPOT p99', of: ({ prediction }) => seconds(prediction.tpot_p99_seconds) },
  { label: 'up to', wide: true, of: ({ prediction }) => `${digits(prediction.most_requests_per_second)}/s` },
  {
    label: 'use',
    silent: true,
    kind: 'text',
    of: (layout) => (
      <button type="button" class="quiet" onClick={() => take(layout)}>
        use
      </button>
    ),
  },
];

/** How few GPUs hold the limits: every layout of engines, simulated. */
export function Planner({ body }: { body: Fields | null }): JSX.Element | null {
  const [plan, setPlan] = useState<Plan | null>(null);
  const [busy, setBusy] = useState(false);
  const [problems, setProblems] = useState<Problem[]>([]);
  const wanted = body && planRequest(body);
  const key = body ? keyOf({ ...body, gpus: numberIn('gpus_most', 64) }) : '';
  const limited = limitOf('max_ttft_p99') !== null || limitOf('max_tpot_p99') !== null;
  const ask = async (): Promise<void> => {
    if (!wanted) return;
    setBusy(true);
    setProblems([]);
    try {
      const answer = await post<{ best: Layout[]; rejected: Record<string, number> }>('/best', wanted);
      setPlan({ key, layouts: answer.best, rejected: answer.rejected });
    } catch (error) {
      setProblems(problemsIn(error));
    }
    setBusy(false);
  };
  if (inlined) return null;
  const current = plan?.key === key ? plan : null;
  return (
    <section class="planner">
      <header class="caption">
        <h3>How few GPUs?</h3>
        {current && (
          <SaveCsv
            name="layouts"
            title="Layouts"
            rows={() => current.layouts.map(({ strategy, prediction }) => ({ ...strategy, ...prediction }))}
          />
        )}
      </header>
      <p class="note">
        Every way to lay out engines on up to {grouped(numberIn('gpus_most', 64))} GPUs, simulated with{' '}
        {traced() ? 'the requests of the trace' : 'requests as they are set on the left'}; the fewest that keep both
        limits first.
      </p>
      <p class="toolbar">
        <button type="button" class="primary" disabled={busy || !limited} onClick={() => void ask()}>
          {busy ? 'Simulating …' : 'Find the fewest GPUs'}
        </button>
        {!limited && <span class="hint">set a limit on the left first</span>}
      </p>
      <Problems of={problems} named />
      {current && current.layouts.length > 0 && (
        <Table label="Layouts that keep the limits" columns={layoutColumns} rows={current.layouts} />
      )}
      {current && current.layouts.length === 0 && (
        <p class="misfit">
          <strong>No layout keeps these limits.</strong>{' '}
          {Object.entries(current.rejected)
            .map(([reason, count]) => `${reason}: ${count}`)
            .join('; ')}
        </p>
      )}
    </section>
  );
}
