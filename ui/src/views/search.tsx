// SPDX-License-Identifier: Apache-2.0
// Search: all strategies of a scenario, live; the best, the Pareto front, and why the others fail.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { dot, line, pointer, ruleX, text, tip } from '@observablehq/plot';
import type { PlotOptions } from '@observablehq/plot';
import { cancelJob, followJob, inlined, startSearch } from '../api';
import { bytes, grouped, percent, seconds, times } from '../format';
import { problemsIn } from '../live';
import { Bars } from '../parts/bars';
import { Problems } from '../parts/fields';
import { Figure, PlotBox, tipStyle } from '../parts/figure';
import { Scenario, switchKind } from '../parts/scenario';
import { address, change, kind, open, params, requestOf } from '../state';
import type { Params } from '../state';
import type { Fields, Found, Job, Problem, SearchAnswer } from '../types';
import { strategyLine } from '../words';
import { Headline, split } from './predict';

/** What a search leaves open; the rest of the scenario is its frame. */
const searched = ['tp', 'pp', 'dp', 'cp', 'ep', 'etp', 'interleave', 'microbatch', 'zero', 'shard', 'sp', 'recompute', 'recompute_layers', 'recompute_modules', 'schedule', 'context', 'order', 'offload'];

function frameOf(values: Params): Fields | null {
  const request = requestOf(values);
  return request && Object.fromEntries(Object.entries(request).filter(([name]) => !searched.includes(name)));
}

/** The scenario with this strategy, for Predict. */
function scenarioOf(found: Found): Params {
  const next: Record<string, string> = {};
  for (const [name, value] of Object.entries(params.value)) if (!searched.includes(name) && name !== 'run') next[name] = value;
  for (const name of searched) {
    const value = found.strategy[name as keyof Found['strategy']];
    // Data parallelism follows from the rest; what is zero or off is the default.
    if (name === 'dp' || value === undefined || typeof value === 'object' || value === false || value === 0) continue;
    next[name] = String(value);
  }
  if (found.strategy.sp === false) next['sp'] = 'false';
  const modules = Object.entries(found.strategy.modules ?? {}).filter(([, on]) => on).map(([name]) => name);
  if (modules.length > 0) next['recompute_modules'] = modules.join(',');
  return next;
}

const memoryOf = (found: Found): number => found.prediction.memory.total_bytes;
const timeOf = (found: Found): number => found.prediction.step_seconds;

const describe = (found: Found): string => `${strategyLine(found.strategy)}\n${seconds(timeOf(found), 4)} a step, ${bytes(memoryOf(found))}`;

function scatter(result: SearchAnswer): (width: number) => PlotOptions {
  const gib = (found: Found): number => memoryOf(found) / 2 ** 30;
  const sample = result.sample ?? result.best;
  const front = [...result.pareto].sort((a, b) => timeOf(a) - timeOf(b));
  const best = result.best.slice(0, 1);
  const capacity = result.best[0]?.prediction.memory.capacity_bytes;
  // Names of the two strategies that the text speaks of.
  const usual = result.usual ? [result.usual] : [];
  return () => ({
    marginLeft: 56, marginBottom: 42, grid: true,
    x: { label: 'memory of the fullest device (GiB) →', zero: true },
    y: { type: 'log', label: '↑ time of a step (s)', tickFormat: '~g' },
    marks: [
      capacity ? ruleX([capacity / 2 ** 30], { stroke: 'var(--red)', strokeDasharray: '4 3' }) : null,
      capacity ? text([capacity / 2 ** 30], { x: (size: number) => size, frameAnchor: 'top', text: () => 'capacity', textAnchor: 'end', dx: -6, fill: 'var(--red)' }) : null,
      dot(sample, { x: gib, y: timeOf, r: 2, fill: 'var(--rest)', fillOpacity: 0.5 }),
      line(front, { x: gib, y: timeOf, stroke: 'var(--work)', curve: 'step-before', strokeWidth: 1.5 }),
      dot(front, { x: gib, y: timeOf, r: 4, fill: 'var(--work)' }),
      dot(usual, { x: gib, y: timeOf, r: 6, stroke: 'currentColor', strokeWidth: 1.5, symbol: 'square' }),
      dot(best, { x: gib, y: timeOf, r: 8, stroke: 'currentColor', strokeWidth: 1.5 }),
      tip([...sample, ...front], pointer({ x: gib, y: timeOf, title: describe, ...tipStyle })),
    ],
  });
}

function Scatter({ result }: { result: SearchAnswer }): JSX.Element {
  const holder = useRef<HTMLDivElement>(null);
  // Plot's own value is the point under the pointer; a click opens it.
  const openPointed = (): void => {
    const drawing = holder.current?.querySelector<SVGSVGElement & { value?: unknown }>('.plot svg, .plot figure');
    const found = drawing?.value as Found | null | undefined;
    if (found && typeof found === 'object' && 'strategy' in found) open('predict', scenarioOf(found));
  };
  return (
    <Figure name="search" title="Time against memory" note="Each dot a strategy that runs; the line is the front on which nothing is both faster and smaller. The circle is the best, the square the usual recipe. Click a dot to open it."
      rows={() => [...(result.sample ?? []).map((found) => ({ set: 'sample', found })), ...result.pareto.map((found) => ({ set: 'pareto', found })), ...result.best.map((found) => ({ set: 'best', found }))]
        .map(({ set, found }) => ({ set, strategy: strategyLine(found.strategy), step_seconds: timeOf(found), total_bytes: memoryOf(found) }))}>
      <div ref={holder} class="clickable" onClick={openPointed}>
        <PlotBox draw={scatter(result)} of={[result]} height={380} label="time of a step against memory, for strategies that fit" />
      </div>
    </Figure>
  );
}

function Best({ result }: { result: SearchAnswer }): JSX.Element {
  const fastest = result.best[0];
  return (
    <section>
      <h3>The best</h3>
      <div class="scroll" tabIndex={0} role="region" aria-label="The best strategies">
        <table class="plain">
          <thead><tr><th scope="col" class="n">#</th><th scope="col">strategy</th><th scope="col" class="n">step</th><th scope="col" class="n">slower by</th><th scope="col" class="n wide">tokens/s a GPU</th><th scope="col" class="n">MFU</th><th scope="col" class="n">memory</th><th scope="col" /></tr></thead>
          <tbody>
            {result.best.map((found, index) => (
              <tr key={index}>
                <td class="n">{index + 1}</td><th scope="row">{strategyLine(found.strategy)}</th><td class="n">{seconds(timeOf(found), 4)}</td>
                <td class="n">{index === 0 || !fastest ? '–' : percent(timeOf(found) / timeOf(fastest) - 1)}</td>
                <td class="n wide">{found.prediction.tokens_per_second_per_gpu === undefined ? '–' : grouped(found.prediction.tokens_per_second_per_gpu)}</td>
                <td class="n">{found.prediction.mfu === undefined ? '–' : percent(found.prediction.mfu)}</td><td class="n">{bytes(memoryOf(found))}</td>
                <td><a href={address('predict', scenarioOf(found))} aria-label={`Open strategy ${index + 1} in Predict`}>open</a></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Rejected({ counts }: { counts: Record<string, number> }): JSX.Element | null {
  const entries = Object.entries(counts).filter(([, count]) => count > 0).sort((a, b) => b[1] - a[1]);
  if (entries.length === 0) return null;
  const bars = entries.map(([reason, count]) => ({ label: reason.replace(/_/g, ' '), value: count, text: grouped(count), tone: 'var(--rest)' }));
  return (
    <Figure name="rejected" title="Why the others fail" rows={() => entries.map(([reason, count]) => ({ reason, count }))}>
      <Bars bars={bars} label={entries.map(([reason, count]) => `${reason}: ${count}`).join(', ')} />
    </Figure>
  );
}

export function SearchResult({ result }: { result: SearchAnswer }): JSX.Element {
  const fastest = result.best[0];
  const gain = fastest && result.usual ? timeOf(result.usual) / timeOf(fastest) : undefined;
  return (
    <div class="result" data-ready="true">
      <dl class="headlines">
        {fastest && <Headline main label="the best step" {...split(seconds(timeOf(fastest), 4))} detail={strategyLine(fastest.strategy)} />}
        {gain !== undefined && result.usual && <Headline label="against the usual recipe" {...split(times(gain))} detail={`${strategyLine(result.usual.strategy)}: ${seconds(timeOf(result.usual), 4)}`} />}
        <Headline label="strategies" value={grouped(result.evaluated)} detail={`${grouped(result.feasible)} run`} />
        <Headline label="a second" value={grouped(result.evaluations_per_second)} detail={`${seconds(result.seconds)} in all`} />
      </dl>
      {!fastest && <p class="misfit"><strong>No strategy runs.</strong> The counts below say why; more GPUs or a smaller batch may help.</p>}
      {result.reasons && result.reasons.length > 0 && <section class="assumptions"><h3>Why it wins</h3><ul>{result.reasons.map((reason) => <li key={reason}>{reason}</li>)}</ul></section>}
      {fastest && <Scatter result={result} />}
      {fastest && <Best result={result} />}
      <Rejected counts={result.rejected} />
    </div>
  );
}

function Progress({ job }: { job: Job }): JSX.Element {
  const { done, total, rate, seconds_left: left } = job.progress;
  return (
    <div class="progress" role="status">
      <progress max={Math.max(1, total)} value={done} aria-label="progress of the search" />
      <p class="note">{job.state === 'running' ? `${grouped(done)} of ${grouped(total)} strategies, ${grouped(rate)} a second${Number.isFinite(left) ? `, ${seconds(Math.max(0, left), 2)} left` : ''}`
        : job.state === 'cancelled' ? `Cancelled after ${grouped(done)} strategies; the best so far is below.` : job.state === 'failed' ? 'The search failed.' : `Done: ${grouped(done)} strategies.`}</p>
    </div>
  );
}

export function Search(): JSX.Element {
  const [job, setJob] = useState<Job | null>(null);
  const [result, setResult] = useState<SearchAnswer | null>(inlined?.view === 'search' ? (inlined.answer as SearchAnswer) : null);
  const [problems, setProblems] = useState<Problem[]>([]);
  const stop = useRef<() => void>(() => undefined);
  const training = kind.value === 'train';
  const body = frameOf(params.value);
  const running = job?.state === 'running';

  const update = (next: Job): void => {
    setJob(next);
    if (next.result) setResult(next.result);
    if (next.errors) setProblems(next.errors);
  };
  const start = async (): Promise<void> => {
    if (!body) return;
    setProblems([]);
    change({ run: '1' });
    try {
      const { id } = await startSearch(body);
      setJob({ id, state: 'running', progress: { done: 0, total: 1, rate: 0, seconds_left: Number.POSITIVE_INFINITY } });
      stop.current = followJob(id, update);
    } catch (error) {
      setProblems(problemsIn(error));
    }
  };
  // A link to a search that ran runs it again.
  useEffect(() => {
    if (params.value['run'] && training && !inlined) void start();
    return () => stop.current();
  }, []);
  return (
    <div class="columns">
      <Scenario free trainingOnly used={{ strategy: null, choices: undefined, problems }} />
      <main>
        <header class="title"><h1>The best strategy</h1><p class="subtitle">Every legal way to spread {params.value['model'] ?? 'the model'} over {grouped(Number(params.value['gpus'] ?? 0))} GPUs of {params.value['system']}, tried.</p></header>
        {!training && <p class="note">Strategies are searched for training. <button type="button" onClick={() => switchKind('train')}>Switch to training</button></p>}
        {!inlined && training && (
          <p class="toolbar">
            <button type="button" class="primary" disabled={running || !body} onClick={() => void start()}>Search</button>
            <button type="button" disabled={!running} onClick={() => { if (job) void cancelJob(job.id).catch((error: unknown) => setProblems(problemsIn(error))); }}>Cancel</button>
          </p>
        )}
        <Problems of={problems} />
        {job && <Progress job={job} />}
        {result ? <SearchResult result={result} /> : !job && <p class="placeholder">A search takes seconds. It leaves the strategy open and holds the model, the system, the GPUs and the batch.</p>}
      </main>
    </div>
  );
}
