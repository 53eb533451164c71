// SPDX-License-Identifier: Apache-2.0
// Search: all strategies of a scenario, live; the best, the Pareto front, and why the others fail.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { abandonJob, cancelJob, followJob, inlined, post, startSearch } from '../api';
import { shortRequest } from '../choose';
import { bytes, devices, grouped, milliseconds, percent, seconds, thousands, times } from '../format';
import { problemsIn } from '../live';
import { asChanged, overridesIn } from '../overrides';
import { Bars } from '../parts/bars';
import { Assumptions, OutsideMeasured } from '../parts/evidence';
import { Choice, NumberField, Problems, problemsOf } from '../parts/fields';
import { Figure } from '../parts/figure';
import { Scatter, nameOf } from '../parts/scatter';
import { Scenario, modelTitle } from '../parts/scenario';
import { Table } from '../parts/table';
import type { Column } from '../parts/table';
import { bestSoFar, objectives, scenarioOf, searchRequest } from '../search';
import { address, change, kind, numberIn, params } from '../state';
import type { Params } from '../state';
import type { Alike, BestSoFar, Found, Job, Problem, SearchAnswer } from '../types';
import { usedBySearch } from '../used';
import { useSure } from '../whole';
import { inWords, labelOf, termOf } from '../words';
import { Headline, inverseOf, rangeOf, split } from './predict';

const optional = (value: number | undefined, show: (value: number) => string): string =>
  value === undefined ? '–' : show(value);

const columns: Record<'train' | 'infer', Column<Found>[]> = {
  train: [
    { label: 'step', of: ({ prediction }) => optional(prediction.step_seconds, (v) => seconds(v, 4)) },
    {
      label: 'tokens/s a GPU',
      of: ({ prediction }) => optional(prediction.tokens_per_second_per_gpu, grouped),
      wide: true,
    },
    { label: 'MFU', of: ({ prediction }) => optional(prediction.mfu, percent) },
    { label: 'memory', of: ({ prediction }) => bytes(prediction.memory.total_bytes) },
  ],
  infer: [
    { label: 'tokens/s a GPU', of: ({ prediction }) => optional(prediction.output_tokens_per_second_per_gpu, grouped) },
    { label: 'TPOT', of: ({ prediction }) => optional(prediction.tpot_seconds, seconds) },
    { label: 'TTFT', of: ({ prediction }) => optional(prediction.ttft_seconds, seconds), wide: true },
    { label: 'memory', of: ({ prediction }) => bytes(prediction.memory.total_bytes), wide: true },
  ],
};

const neverMeasured: Column<Found> = {
  label: 'never measured so',
  kind: 'text',
  of: ({ uncertainty }) => uncertainty.unmeasured.map(({ axis }) => labelOf(axis)).join(', '),
};

/** Of those that cannot be told apart, the one to take. */
function Recommended({ group }: { group: Alike }): JSX.Element | null {
  if (group.last === group.first) return null;
  return (
    <p class="note">
      {group.first} to {group.last} cannot be told apart; take {group.recommended} ({group.summary}), the simplest of
      those nearest to what was measured.
    </p>
  );
}

function Best({ result, of, asked }: { result: SearchAnswer; of: Column<Found>[]; asked: Params }): JSX.Element {
  const all: Column<Found>[] = [
    { label: '#', of: (_, index) => index + 1 },
    { label: 'strategy', kind: 'name', of: nameOf },
    ...of,
    ...(result.best.some(({ uncertainty }) => uncertainty.unmeasured.length > 0) ? [neverMeasured] : []),
    {
      label: 'open',
      silent: true,
      kind: 'text',
      of: (found, index) =>
        !inlined && (
          <a href={address('predict', scenarioOf(found, asked))} aria-label={`Open strategy ${index + 1} in Predict`}>
            open
          </a>
        ),
    },
  ];
  return (
    <section>
      <h3>The best</h3>
      <Table label="The best strategies" class="strategies" columns={all} rows={result.best} />
      {result.groups.map((group) => (
        <Recommended key={group.first} group={group} />
      ))}
      {result.measured_instead && (
        <p class="note">Nearer to what was measured, and not surely slower: {result.measured_instead}.</p>
      )}
      <OutsideMeasured
        of={result.best.flatMap(({ uncertainty }) => uncertainty.unmeasured.map(({ sentence }) => sentence))}
      />
    </section>
  );
}

function Rejected({ counts }: { counts: Record<string, number> }): JSX.Element | null {
  const entries = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .sort((a, b) => b[1] - a[1]);
  if (entries.length === 0) return null;
  const bars = entries.map(([reason, count]) => ({
    label: inWords(reason).replace(/_/g, ' '),
    value: count,
    text: grouped(count),
    tone: 'var(--rest)',
  }));
  return (
    <Figure
      name="rejected"
      title="Why the others fail"
      rows={() => entries.map(([reason, count]) => ({ reason, count }))}
    >
      <Bars bars={bars} label={entries.map(([reason, count]) => `${reason}: ${count}`).join(', ')} />
    </Figure>
  );
}

function Headlines({ outcome, training }: { outcome: Outcome; training: boolean }): JSX.Element {
  const { result, asked } = outcome;
  const [fastest] = result.best;
  const sure = useSure(fastest ? scenarioOf(fastest, asked) : null);
  const [time, usual] = [fastest?.prediction.step_seconds, result.usual?.prediction.step_seconds];
  return (
    <dl class="headlines">
      {fastest && training && (
        <Headline
          main
          label="the best step"
          {...split(seconds(time ?? 0, 4))}
          {...(sure ? { range: rangeOf(time ?? 0, sure, seconds) } : {})}
          detail={nameOf(fastest)}
        />
      )}
      {fastest && !training && (
        <Headline
          main
          label="tokens a second a GPU"
          value={grouped(fastest.prediction.output_tokens_per_second_per_gpu ?? 0)}
          {...(sure
            ? { range: inverseOf(fastest.prediction.output_tokens_per_second_per_gpu ?? 0, sure, thousands) }
            : {})}
          detail={nameOf(fastest)}
        />
      )}
      {time && usual && result.usual && (
        <Headline
          label="against the usual recipe"
          {...split(times(usual / time))}
          detail={`${nameOf(result.usual)}: ${seconds(usual, 4)}`}
        />
      )}
      <Headline label="strategies" value={grouped(result.evaluated)} detail={`${grouped(result.feasible)} run`} />
      <Headline
        label="a second"
        value={grouped(result.evaluations_per_second)}
        detail={`${seconds(result.seconds)} in all`}
      />
    </dl>
  );
}

/** What was found, and the scenario it was found for. */
interface Outcome {
  key: string;
  asked: Params;
  result: SearchAnswer;
}

type Standing = 'final' | 'stale' | 'early';

/** What the numbers below are not. */
function Caveat({ result, standing }: { result: SearchAnswer; standing: Standing }): JSX.Element | null {
  if (standing === 'final') return null;
  return (
    <section class="verdict" role="status">
      {standing === 'early' ? (
        <p>
          <strong>So far: the best of {grouped(result.evaluated)} that are tried first.</strong> All others are being
          tried.
        </p>
      ) : (
        <p>
          <strong>
            Found for {result.model} on {devices(result.gpus)} of {result.system}.
          </strong>{' '}
          The scenario has changed since; search again for its own.
        </p>
      )}
    </section>
  );
}

function SearchResult({ outcome, standing }: { outcome: Outcome; standing: Standing }): JSX.Element {
  const { result, asked } = outcome;
  const shape = result.kind === 'infer' ? 'infer' : 'train';
  const found = result.best.length > 0;
  return (
    <div class="result" data-ready={standing === 'final'} data-standing={standing} data-stale={standing === 'stale'}>
      <Caveat result={result} standing={standing} />
      <Headlines outcome={outcome} training={shape === 'train'} />
      {!found && (
        <p class="misfit">
          <strong>No strategy runs.</strong> The counts below say why; more GPUs or a smaller batch may help.
        </p>
      )}
      {result.reasons && result.reasons.length > 0 && (
        <section class="reasons">
          <h3>Why it wins</h3>
          <ul>
            {result.reasons.map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
          </ul>
        </section>
      )}
      {found && <Scatter result={result} asked={asked} />}
      {found && <Best result={result} of={columns[shape]} asked={asked} />}
      <Rejected counts={result.rejected} />
      <Assumptions of={result.assumptions ?? []} />
    </div>
  );
}

/** The best of those that were looked at, while others are. */
function SoFar({ best }: { best: BestSoFar }): JSX.Element {
  const { time, strategy, gap } = bestSoFar(best);
  return (
    <p class="best-so-far">
      Best so far: <strong>{time}</strong> ({strategy}); {gap}.
    </p>
  );
}

function Progress({ job }: { job: Job }): JSX.Element {
  const { done, total, rate, seconds_left: left, best } = job.progress;
  const sentences: Record<Job['state'], string> = {
    running: `${grouped(done)} of ${grouped(total)} points, ${grouped(rate)} a second${Number.isFinite(left) ? `, ${seconds(Math.max(0, left), 2)} left` : ''}`,
    cancelled: `Cancelled after ${grouped(done)} points; the best so far is below.`,
    failed: 'The search failed.',
    done: 'Done.',
  };
  return (
    <div class="progress" role="status">
      <progress
        max={Math.max(1, total)}
        value={job.state === 'done' ? Math.max(1, total) : done}
        aria-label="progress of the search"
      />
      <p class="note">{sentences[job.state]}</p>
      {job.state === 'running' && best && <SoFar best={best} />}
    </div>
  );
}

const latencies = [0, 5, 10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000];
const cluster = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/** What only a search asks. */
function Aims({ problems }: { problems: Problem[] }): JSX.Element {
  const names = objectives[kind.value];
  const limit = (value: number): string => (value === 0 ? 'any' : `${value} ms`);
  const bound = (name: string, label: string, hint: string): JSX.Element => (
    <NumberField
      label={label}
      hint={hint}
      name={name}
      free
      read={milliseconds}
      value={numberIn(name, 0)}
      values={latencies}
      show={limit}
      problems={problemsOf(problems, name)}
      onChange={(value) => change({ [name]: value === 0 ? undefined : value })}
    />
  );
  return (
    <>
      <Choice
        label="Best by"
        name="objective"
        value={params.value['objective'] ?? names[0]}
        options={names.map((name): [string, string] => [
          name,
          name.replace(/-/g, ' ').replace('tokens per second', 'speed'),
        ])}
        problems={problemsOf(problems, 'objective')}
        onChange={(objective) => change({ objective: objective === names[0] ? undefined : objective })}
      />
      {kind.value === 'infer' && (
        <>
          <NumberField
            label="GPUs"
            name="gpus"
            free
            value={numberIn('gpus', 8)}
            values={cluster}
            problems={problemsOf(problems, 'gpus')}
            onChange={(gpus) => change({ gpus })}
          />
          {bound('max_ttft', 'TTFT at most', termOf('TTFT'))}
          {bound('max_tpot', 'TPOT at most', termOf('TPOT'))}
        </>
      )}
    </>
  );
}

/** The last result outlives the view: Back shows it again without a new search. */
let last: Outcome | null = null;

export function Search(): JSX.Element {
  const [job, setJob] = useState<Job | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(
    inlined?.view === 'search' ? { key: '', asked: params.value, result: inlined.answer as SearchAnswer } : last,
  );
  const [early, setEarly] = useState<Outcome | null>(null);
  const [problems, setProblems] = useState<Problem[]>([]);
  /** Leaves the job that runs, if one does: nobody waits for it any more. */
  const leave = useRef<() => void>(() => undefined);
  const body = searchRequest(params.value);
  const key = JSON.stringify(body);
  const running = job?.state === 'running';

  const start = async (): Promise<void> => {
    if (!body) return;
    leave.current();
    setProblems([]);
    change({ run: '1' });
    const asked = params.value;
    let left = false;
    leave.current = () => {
      left = true; // before the server has said its name
    };
    try {
      const { id } = await startSearch(body);
      if (left) {
        abandonJob(id);
        return;
      }
      setJob({
        id,
        state: 'running',
        progress: { done: 0, total: 1, rate: 0, seconds_left: Number.POSITIVE_INFINITY },
      });
      let ended = false;
      const first = shortRequest(asked);
      if (first)
        post<SearchAnswer>('/best', { ...first, top: 5 }).then(
          (result) => {
            if (!ended && !left && result.best.length > 0) setEarly({ key, asked, result });
          },
          () => undefined, // the search itself says what is wrong
        );
      const stopListening = followJob(id, (next) => {
        setJob(next);
        if (next.state !== 'running') {
          ended = true;
          setEarly(null);
          leave.current = () => undefined;
        }
        if (next.result) setOutcome((last = { key, asked, result: next.result }));
        if (next.errors) setProblems(next.errors);
      });
      leave.current = () => {
        leave.current = () => undefined;
        ended = true;
        setEarly(null);
        stopListening();
        abandonJob(id);
      };
    } catch (error) {
      setProblems(problemsIn(error));
    }
  };
  const cancel = (): void => {
    if (job) cancelJob(job.id).catch((error: unknown) => setProblems(problemsIn(error)));
  };
  useEffect(() => {
    // A link to a search that ran runs it again.
    if (params.value['run'] && !inlined && last?.key !== key) void start();
    const leaving = (): void => leave.current();
    addEventListener('pagehide', leaving);
    return () => {
      removeEventListener('pagehide', leaving);
      leaving();
    };
  }, []);
  // What was found for one question is no answer to the other.
  const shown = outcome && (inlined || (outcome.result.kind ?? 'train') === kind.value) ? outcome : null;
  const stale = !inlined && shown?.key !== key;
  const soFar = running && early?.key === key ? early : null;
  return (
    <div class="columns">
      <Scenario
        free
        used={{ values: stale ? {} : usedBySearch(shown?.result ?? null), choices: undefined, problems }}
        aims={<Aims problems={problems} />}
      />
      <main>
        <header class="title">
          <h1>The best strategy</h1>
          <p class="subtitle">
            Every legal way to {kind.value === 'train' ? 'train' : 'serve'} {modelTitle()} on{' '}
            {devices(numberIn('gpus', 8))} of {params.value['system']}
            {asChanged(overridesIn(params.value['set']))}, tried.
          </p>
        </header>
        {!inlined && (
          <p class="toolbar">
            <button type="button" class="primary" disabled={running || !body} onClick={() => void start()}>
              Search
            </button>
            <button type="button" disabled={!running} onClick={cancel}>
              Cancel
            </button>
          </p>
        )}
        <Problems of={problems} named />
        {job && <Progress job={job} />}
        {soFar && <SearchResult outcome={soFar} standing="early" />}
        {shown && !soFar ? (
          <SearchResult outcome={shown} standing={stale ? 'stale' : 'final'} />
        ) : (
          !job && (
            <p class="placeholder">
              A search takes seconds. It leaves the strategy open and holds the model, the system, the GPUs and the
              workload.
            </p>
          )
        )}
      </main>
    </div>
  );
}
