// SPDX-License-Identifier: Apache-2.0
// Profile: a trace of PyTorch's profiler beside the model; what is lost, by what, and when.
import type { ComponentChildren, JSX } from 'preact';
import { signal } from '@preact/signals';
import { postFile } from '../api';
import { bytes, digits, grouped, percent, seconds } from '../format';
import { useLive } from '../live';
import { Placeholder } from '../parts/answered';
import { Assumptions } from '../parts/evidence';
import { NumberField, Picker, Problems, problemsOf } from '../parts/fields';
import { Figure, SaveCsv } from '../parts/figure';
import { FileButton, dropped, gzipped } from '../parts/files';
import { Gantt } from '../parts/gantt';
import { Side } from '../parts/side';
import { Table } from '../parts/table';
import type { Column } from '../parts/table';
import { rowsOf, sayPiece, stepsOf } from '../profile';
import { change, numberIn, params, presets } from '../state';
import type { ProfileAnswer, ProfileLoss, ProfileOperator } from '../types';
import { popularFirst } from '../words';
import { Headline, split } from './predict';

/** Outlives the view; no address holds it. */
const trace = signal<{ file: Blob; name: string; size: number } | null>(null);
let number = 0; // of the file: the same name may hold another trace

async function take(file: File): Promise<void> {
  number++;
  trace.value = { file: await gzipped(file), name: file.name, size: file.size };
}

const device = (): string => params.value['profile_device'] ?? 'h200-sxm';

function Drop({ children }: { children?: ComponentChildren }): JSX.Element {
  return (
    <div class="drop" {...dropped((file) => void take(file))}>
      {children}
      <FileButton
        label="trace file"
        accept=".json,.gz,application/json,application/gzip"
        take={(file) => void take(file)}
      />
      <span class="hint">or drop it here</span>
    </div>
  );
}

function Form({
  problems,
  answer,
}: {
  problems: ReturnType<typeof problemsOf>;
  answer: ProfileAnswer | null;
}): JSX.Element {
  const seen = answer?.devices ?? [];
  return (
    <Side title="Profile" unfolded>
      <form class="scenario" onSubmit={(event) => event.preventDefault()}>
        <h2>Trace</h2>
        <Drop>{trace.value && <p class="note">{`${trace.value.name}, ${bytes(trace.value.size)}`}</p>}</Drop>
        <Picker
          label="Device"
          name="profile_device"
          value={device()}
          options={popularFirst(presets.value?.devices ?? [], 'devices')}
          problems={problemsOf(problems, 'device')}
          onChange={(next) => change({ profile_device: next })}
        />
        {seen.length > 1 && (
          <NumberField
            label="GPU"
            hint="of the trace"
            name="profile_gpu"
            value={numberIn('profile_gpu', seen[0]?.device ?? 0)}
            values={seen.map((entry) => entry.device)}
            problems={problemsOf(problems, 'gpu')}
            onChange={(next) => change({ profile_gpu: next })}
          />
        )}
      </form>
    </Side>
  );
}

function Headlines({ answer }: { answer: ProfileAnswer }): JSX.Element {
  const steps = stepsOf(answer);
  const a = steps > 1 ? ' a step' : '';
  const better = answer.device_seconds - answer.attainable_seconds;
  return (
    <dl class="headlines">
      <Headline
        main
        label={steps > 1 ? 'a step' : 'measured'}
        {...split(seconds(answer.measured_seconds / steps))}
        detail={
          steps > 1 ? `${steps} steps in ${seconds(answer.measured_seconds)}` : `${grouped(answer.launches)} launches`
        }
      />
      <Headline
        label="busy"
        {...split(percent(answer.busy_seconds / answer.measured_seconds))}
        detail={`idle ${seconds(answer.idle_seconds / steps)}${a}`}
      />
      <Headline
        label="lost in kernels"
        {...split(seconds(Math.max(0, better) / steps))}
        detail={`${seconds(answer.attainable_seconds / steps)} of ${seconds(answer.device_seconds / steps)} were needed`}
      />
      <Headline label="host-bound" {...split(percent(answer.host_bound_share))} detail="the device waits to be told" />
      <Headline
        label="attributed"
        {...split(percent(answer.attributed_share))}
        detail="of its work has an operator and shapes"
      />
    </dl>
  );
}

function Losses({ answer }: { answer: ProfileAnswer }): JSX.Element {
  const steps = stepsOf(answer);
  const widest = Math.max(...answer.losses.map((loss) => loss.seconds));
  const columns: Column<ProfileLoss>[] = [
    {
      label: steps > 1 ? 'lost a step' : 'lost',
      kind: 'text',
      class: 'share',
      of: (loss) => (
        <>
          <svg width="60" height="10" aria-hidden="true">
            <rect width={(loss.seconds / widest) * 60} height="10" fill="var(--red)" />
          </svg>
          {seconds(loss.seconds / steps)}
        </>
      ),
    },
    { label: 'of the time', wide: true, of: (loss) => percent(loss.seconds / answer.measured_seconds) },
    { label: 'by', kind: 'name', of: (loss) => loss.cause },
    { label: 'what helps', kind: 'text', wide: true, of: (loss) => loss.advice },
  ];
  return (
    <section>
      <header class="caption">
        <h3>What is lost</h3>
        <SaveCsv name="losses" title="What is lost" rows={() => answer.losses.map((loss) => ({ ...loss }))} />
      </header>
      {answer.losses.length === 0 ? (
        <p class="note">Nothing that the model sees.</p>
      ) : (
        <Table label="What is lost" class="losses" columns={columns} rows={answer.losses} />
      )}
    </section>
  );
}

const firstRows = 20;

const operatorColumns = (whole: number): Column<ProfileOperator>[] => [
  { label: 'share', of: (row) => percent(row.measured_seconds / whole) },
  { label: 'operator', kind: 'name', of: (row) => row.name },
  { label: 'measured', of: (row) => seconds(row.measured_seconds) },
  { label: 'attainable', of: (row) => (row.predicted_seconds === undefined ? '–' : seconds(row.predicted_seconds)) },
  { label: 'ratio', of: (row) => (row.ratio === undefined ? '–' : digits(row.ratio)) },
  { label: 'calls', of: (row) => grouped(row.calls) },
  { label: 'kind', kind: 'text', wide: true, of: (row) => row.kind },
  { label: 'shape', kind: 'text', wide: true, of: (row) => row.shape },
  { label: 'bound', kind: 'text', wide: true, of: (row) => row.bound ?? '' },
];

function Result({ answer, stale }: { answer: ProfileAnswer; stale: boolean }): JSX.Element {
  const { names, spans } = rowsOf(answer);
  return (
    <div class={`result ${stale ? 'stale' : ''}`} data-ready={!stale}>
      <header class="title">
        <h1>
          {answer.trace} <span>on</span> {answer.device}
        </h1>
        <p class="subtitle">
          Beside what the device could do with the same work: not the peak of its datasheet, but what the model predicts
          for each operator, with its shapes, at the clock that power allowed.
        </p>
      </header>
      <Headlines answer={answer} />
      <Losses answer={answer} />
      <Figure name="profile" title="What ran when" rows={() => (answer.pieces ?? []).map((piece) => ({ ...piece }))}>
        <Gantt
          spans={spans}
          names={names}
          whole={answer.measured_seconds}
          wholeName="Whole trace"
          label="What ran when"
          say={sayPiece}
        />
      </Figure>
      <section>
        <header class="caption">
          <h3>Operators</h3>
          <SaveCsv name="operators" title="Operators" rows={() => answer.operators.map((row) => ({ ...row }))} />
        </header>
        <Table
          label="Operators of the trace"
          class="operators"
          columns={operatorColumns(answer.device_seconds)}
          rows={answer.operators.slice(0, firstRows)}
        />
        {answer.operators.length > firstRows && (
          <p class="note">And {grouped(answer.operators.length - firstRows)} more, in the CSV.</p>
        )}
      </section>
      <Assumptions of={answer.assumptions} />
    </div>
  );
}

const recipe = `from torch.profiler import ProfilerActivity, profile

with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as prof:
    for _ in range(2):
        step()
        prof.step()
prof.export_chrome_trace("trace.json.gz")`;

function Start(): JSX.Element {
  return (
    <>
      <header class="title">
        <h1>Where does it lose?</h1>
        <p class="subtitle">
          Drop a trace of PyTorch’s profiler: what the device could have done with the same work, and what took the
          rest. It is read {SITE ? 'in this page' : 'on the machine that serves this page'}.
        </p>
      </header>
      <Drop />
      <h3>Making one</h3>
      <pre class="code">{recipe}</pre>
      <p class="note">
        Warm up first, so that nothing compiles while the profiler looks. <code>record_shapes=True</code> tells a
        multiply’s size.
      </p>
    </>
  );
}

export function Profile(): JSX.Element {
  const sent = trace.value;
  const fields: Record<string, string> = { trace: sent?.name ?? '', device: device(), pieces: 'true' };
  if (params.value['profile_gpu']) fields['gpu'] = params.value['profile_gpu'];
  const live = useLive<ProfileAnswer>(sent && JSON.stringify([number, fields]), (signal) =>
    postFile('/profile', fields, sent?.file ?? new Blob(), signal),
  );
  const { answer, problems } = live;
  return (
    <div class="columns">
      <Form problems={problems} answer={answer} />
      <main>
        {sent && <Problems of={problems} named />}
        {!sent && <Start />}
        {sent && answer && <Result answer={answer} stale={problems.length > 0 || live.busy} />}
        {sent && !answer && <Placeholder busy={live.busy}>{problems.length === 0 && 'Reading the trace'}</Placeholder>}
      </main>
    </div>
  );
}
