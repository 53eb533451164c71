// SPDX-License-Identifier: Apache-2.0
// Fits?: how few GPUs hold a model, for models and systems at a glance; and how far context and batch go on one of them.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Refusal, inlined, post } from '../api';
import { bytes, devices, grouped, percent, seconds, times, tokens } from '../format';
import { problemsIn } from '../live';
import { Placeholder } from '../parts/answered';
import { Choice, NumberField, Picker, Problems } from '../parts/fields';
import { SaveCsv } from '../parts/figure';
import { ModelField, Reset, modelTitle, systemOptions } from '../parts/scenario';
import { Side } from '../parts/side';
import { Table } from '../parts/table';
import type { Column } from '../parts/table';
import { asChanged, overridesIn } from '../overrides';
import { scenarioOf } from '../search';
import {
  address,
  change,
  examples,
  madeSystems,
  numberIn,
  params,
  presets,
  requestOf,
  systemFacts,
  unpackedConfigs,
} from '../state';
import type { Params } from '../state';
import type { Fields, InferAnswer, Problem, SearchAnswer } from '../types';
import { popularFirst } from '../words';

const contexts = [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072];
const batches = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const parallel = 4; // requests at a time: others ask as well
const mostGpus = 64;
const listed = { models: 9, systems: 8 };

/** Runs jobs a few at a time, each as it comes; the returned function gives up. */
function queue<T>(jobs: T[], run: (job: T, signal: AbortSignal) => Promise<void>, end: () => void): () => void {
  const controller = new AbortController();
  const waiting = [...jobs];
  const worker = async (): Promise<void> => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      if (controller.signal.aborted) return;
      await run(job, controller.signal);
    }
  };
  // While a slider moves, the table waits for it to rest.
  const rest = setTimeout(() => {
    void Promise.all(Array.from({ length: parallel }, worker)).then(() => {
      if (!controller.signal.aborted) end();
    });
  }, 150);
  return () => {
    clearTimeout(rest);
    controller.abort();
  };
}

/** The fewest GPUs, and the scenario that they serve; null where none of as many as were tried do. */
interface Cell {
  gpus: number | null;
  memory: number;
  scenario: Params | null;
  /** Why none do. */
  why: string;
}

const none = (why: string): Cell => ({ gpus: null, memory: 0, scenario: null, why });

const cellName = (model: string, system: string): string => `${model}|${system}`;

interface Grid {
  cells: ReadonlyMap<string, Cell>;
  problems: Problem[];
  done: boolean;
}

/** A search for the fewest GPUs in each cell. */
function useGrid(models: string[], systems: string[], workload: Params): Grid {
  const [grid, setGrid] = useState<Grid>({ cells: new Map(), problems: [], done: false });
  const made = params.value['made'];
  const waiting = made !== undefined && !madeSystems.value.has(made);
  const key = JSON.stringify([models, systems, workload, made, waiting]);
  useEffect(() => {
    if (inlined || models.length === 0 || systems.length === 0 || waiting) return undefined;
    let cells = new Map<string, Cell>();
    setGrid({ cells, problems: [], done: false });
    const jobs = models.flatMap((model) => systems.map((system) => ({ model, system })));
    return queue(
      jobs,
      async ({ model, system }, signal) => {
        // The system at hand may be one that was made.
        const own = system === params.value['system'] && params.value['made'];
        const context = Number(workload['input']) + Number(workload['output']);
        const longest = presets.value?.models.find(({ name }) => name === model)?.max_context ?? context;
        const values: Params = {
          ...workload,
          kind: 'infer',
          model,
          system,
          ...(own ? { made: own } : {}),
          // What was counted opens, also beyond what the model was made for.
          ...(context > longest ? { allow_long: 'true' } : {}),
        };
        const most = systemFacts(values)?.max_devices ?? mostGpus;
        try {
          const answer = await post<SearchAnswer>(
            '/best',
            {
              ...fixed(values),
              gpus: Math.min(mostGpus, most),
            },
            signal,
          );
          const [best] = answer.best;
          cells = new Map(cells).set(
            cellName(model, system),
            best
              ? {
                  gpus: best.prediction.gpus,
                  memory: best.prediction.memory.total_bytes / best.prediction.memory.capacity_bytes,
                  scenario: scenarioOf(best, values),
                  why: '',
                }
              : none(`does not fit in ${devices(Math.min(mostGpus, most))}`),
          );
          setGrid({ cells, problems: [], done: false });
        } catch (error) {
          if (signal.aborted) return;
          // A precision that a device does not have is no fault of the table.
          if (error instanceof Refusal) {
            cells = new Map(cells).set(cellName(model, system), none(error.problems[0]?.message ?? ''));
            setGrid({ cells, problems: [], done: false });
          } else setGrid({ cells, problems: problemsIn(error), done: false });
        }
      },
      () => setGrid((last) => ({ ...last, done: true })),
    );
  }, [key]);
  return grid;
}

/** One request at a time, by the fewest GPUs; the search may cut by tensors and into stages. */
function fixed(values: Params): Fields {
  return {
    model: values['model'] ?? '',
    system: requestOf(values, false)?.['system'] ?? '',
    input: Number(values['input']),
    output: Number(values['output']),
    infer: true,
    objective: 'gpus',
    top: 1,
    allow_long: true,
    fix: [`batch=${values['batch'] ?? 1}`, 'dp=1', 'ep=1'],
    limit: ['tp<=8'],
    precision: [values['precision'] ?? 'bf16'],
    kv_precision: [values['kv_precision'] ?? 'bf16'],
  };
}

const shade = (gpus: number): number => 0.85 - Math.min(0.75, Math.log2(gpus) / 8);

function Fewest({ grid, models, systems }: { grid: Grid; models: string[]; systems: string[] }): JSX.Element {
  const column = (system: string): Column<string> => {
    const at = (model: string): Cell | undefined => grid.cells.get(cellName(model, system));
    return {
      label: system,
      class: 'cell',
      cell: (model) => {
        const cell = at(model);
        if (!cell) return {};
        return cell.gpus === null
          ? { class: 'none', title: `${model} on ${system}: ${cell.why}` }
          : { style: { '--shade': shade(cell.gpus) } };
      },
      of: (model) => {
        const cell = at(model);
        if (!cell) return null;
        if (cell.gpus === null || !cell.scenario) return '–';
        const title = `${model} on ${system}: ${devices(cell.gpus)}, ${percent(cell.memory, 0)} of their memory`;
        return (
          <a href={address('predict', cell.scenario)} title={title}>
            {grouped(cell.gpus)}
          </a>
        );
      },
    };
  };
  const name: Column<string> = { label: 'model', kind: 'name', of: (model) => model };
  return (
    <Table
      label="The fewest GPUs that hold a model"
      class="grid"
      columns={[name, ...systems.map(column)]}
      rows={models}
    />
  );
}

interface Point {
  context: number;
  batch: number;
  answer: InferAnswer | null;
}

/** Every context with every batch, on the strategy at hand. */
function useHeat(values: Params): { points: Point[]; problems: Problem[]; done: boolean } {
  const [heat, setHeat] = useState<{ points: Point[]; problems: Problem[]; done: boolean }>({
    points: [],
    problems: [],
    done: false,
  });
  const request = requestOf(values, false);
  const key = JSON.stringify(request);
  useEffect(() => {
    if (!request || inlined) return undefined;
    // What was asked before stands under another title.
    setHeat({ points: [], problems: [], done: false });
    const points: Point[] = [];
    let problems: Problem[] = [];
    // What is wrong with all of them is asked once.
    const hopeless = (): boolean =>
      problems.some(({ field }) => ['model', 'system', 'precision', 'tp'].includes(field));
    const output = 128;
    return queue(
      contexts.flatMap((context) => batches.map((batch) => ({ context, batch }))),
      async ({ context, batch }, signal) => {
        if (hopeless()) return;
        try {
          const fields: Fields = { ...request, input: context - output, output, batch, allow_long: true };
          points.push({ context, batch, answer: await post<InferAnswer>('/infer', fields, signal) });
        } catch (error) {
          if (!signal.aborted) problems = problemsIn(error);
          points.push({ context, batch, answer: null });
        }
      },
      () => setHeat({ points, problems: points.every((point) => !point.answer) ? problems : [], done: true }),
    );
  }, [key]);
  return heat;
}

const fullness = ({ total_bytes, capacity_bytes }: InferAnswer['memory']): number => total_bytes / capacity_bytes;

function Heat({ values }: { values: Params }): JSX.Element {
  const { points, problems } = useHeat(values);
  const at = (context: number, batch: number): Point | undefined =>
    points.find((point) => point.context === context && point.batch === batch);
  const gpus = points.find((point) => point.answer)?.answer?.gpus;
  const column = (context: number): Column<number> => ({
    label: tokens(context),
    class: 'cell',
    cell: (batch) => {
      const memory = at(context, batch)?.answer?.memory;
      if (!memory) return {};
      return {
        class: memory.fits ? '' : 'over',
        style: { '--shade': Math.min(0.85, fullness(memory) * 0.85) },
        title: `${grouped(context)} tokens, ${batch} requests: ${bytes(memory.total_bytes)} of ${bytes(memory.capacity_bytes)}`,
      };
    },
    of: (batch) => {
      const answer = at(context, batch)?.answer;
      if (!answer) return null;
      if (answer.memory.fits) return seconds(answer.tpot_seconds, 2);
      const full = fullness(answer.memory);
      return full < 10 ? percent(full, 0) : times(full);
    },
  });
  return (
    <section data-heat={points.length > 0}>
      <header class="caption">
        <h3>
          How long, how many: {modelTitle(values)} on {gpus ? devices(gpus) : 'GPUs'} of {values['system']}
          {asChanged(overridesIn(values['set']))}
        </h3>
        <SaveCsv
          name="context-batch"
          title="Context and batch"
          rows={() =>
            points.map(({ context, batch, answer }) => ({
              context,
              batch,
              fits: answer ? String(answer.memory.fits) : '',
              bytes: answer?.memory.total_bytes ?? null,
              tpot_seconds: answer?.tpot_seconds ?? null,
              tokens_per_second: answer?.output_tokens_per_second ?? null,
            }))
          }
        />
      </header>
      <p class="note">
        TPOT by tokens of context and requests at a time; the darker, the fuller the memory, and red does not fit.
      </p>
      <Problems of={problems} named />
      <Table
        label="Context and batch that fit"
        class="grid"
        columns={[{ label: 'batch', kind: 'name', class: 'n', of: String }, ...contexts.map(column)]}
        rows={batches}
      />
    </section>
  );
}

/** As many ways to cut by tensors as are usual, where so many divide the heads. */
function usualDegree(values: Params): number {
  const packed = values['config'] ? unpackedConfigs.value.get(values['config']) : undefined;
  const heads = packed
    ? Number(packed['num_attention_heads'])
    : presets.value?.models.find(({ name }) => name === values['model'])?.heads;
  const most = Math.min(8, systemFacts(values)?.devices_per_node ?? 8);
  const degrees = [8, 7, 6, 5, 4, 3, 2].filter((degree) => degree <= most);
  return heads ? (degrees.find((degree) => heads % degree === 0) ?? 1) : most;
}

export function Fits(): JSX.Element {
  const names = (kind: 'models' | 'systems'): string[] => {
    const list = popularFirst<{ name: string }>(presets.value?.[kind] ?? [], kind).map((entry) => entry.name);
    const own = params.value[kind === 'models' ? 'model' : 'system'];
    const first = list.slice(0, listed[kind]);
    const known = own && (list.includes(own) || (kind === 'systems' && params.value['made']));
    return known && !first.includes(own) ? [own, ...first.slice(0, -1)] : first;
  };
  const [models, systems] = [names('models'), names('systems')];
  const precision = params.value['precision'] ?? 'bf16';
  const kv = params.value['kv_precision'] ?? 'bf16';
  const context = numberIn('fit_context', 8192);
  const output = 128;
  const workload: Params = {
    precision,
    kv_precision: kv,
    input: String(context - output),
    output: String(output),
    batch: String(numberIn('fit_batch', 1)),
  };
  const grid = useGrid(models, systems, workload);
  // A training scenario has a model and a system; how it is served is the usual way.
  const { model, config, system, made } = params.value;
  const heat: Params =
    params.value['kind'] === 'infer'
      ? params.value
      : {
          ...(config ? { config } : { model: model ?? '' }),
          system: system ?? '',
          ...(made ? { made } : {}),
          tp: String(usualDegree(params.value)),
          precision,
          kv_precision: kv,
        };
  return (
    <div class="columns">
      <Side title="Fits?" unfolded>
        <form class="scenario" onSubmit={(event) => event.preventDefault()}>
          <fieldset class="all" disabled={inlined !== null}>
            <Reset />
            <ModelField problems={[]} take={change} />
            <Picker
              label="System"
              name="system"
              value={params.value['system'] ?? examples.infer['system'] ?? ''}
              options={systemOptions()}
              onChange={(system) => change({ system })}
            />
            <h2>What it holds</h2>
            <Choice
              label="Weights"
              name="precision"
              value={precision}
              options={['bf16', 'fp8', 'fp4', 'int8', 'int4']}
              onChange={(next) => change({ precision: next })}
            />
            <Choice
              label="Cache"
              name="kv_precision"
              value={kv}
              options={['bf16', 'fp8', 'int8']}
              onChange={(next) => change({ kv_precision: next })}
            />
            <NumberField
              label="Context"
              hint="tokens a request holds"
              name="fit_context"
              value={context}
              values={contexts}
              show={tokens}
              onChange={(value) => change({ fit_context: value })}
            />
            <NumberField
              label="Requests"
              hint="at a time"
              name="fit_batch"
              value={numberIn('fit_batch', 1)}
              values={batches}
              onChange={(value) => change({ fit_batch: value })}
            />
          </fieldset>
        </form>
      </Side>
      <main>
        <header class="title">
          <h1>How few GPUs hold it?</h1>
          <p class="subtitle">
            {precision} weights and a cache of {grouped(context)} tokens in {kv} for{' '}
            {workload['batch'] === '1' ? 'one request' : `${workload['batch']} requests`} at a time; up to {mostGpus}{' '}
            GPUs. A number opens it in Predict.
          </p>
        </header>
        {models.length === 0 ? (
          <Placeholder busy />
        ) : (
          <div class="result" data-ready={grid.done}>
            <Problems of={grid.problems} named />
            <Fewest grid={grid} models={models} systems={systems} />
            <Heat values={heat} />
          </div>
        )}
      </main>
    </div>
  );
}
