// SPDX-License-Identifier: Apache-2.0
// The form of Serving: requests, limits, engines.
import type { JSX } from 'preact';
import { inlined } from '../api';
import { pick } from '../choose';
import { anyNumber, grouped, milliseconds } from '../format';
import { mostRequests, number, split2, takeTrace, trace } from '../serving';
import { change, params } from '../state';
import type { Problem } from '../types';
import { Choice, NumberField, Picker, Toggle, problemsOf } from './fields';
import { FileButton, dropped } from './files';
import {
  AllowLong,
  ModelField,
  PriceField,
  Reset,
  ServePrecision,
  Speculating,
  runtimeOptions,
  systemOptions,
} from './scenario';
import type { Used } from './scenario';
import { Side } from './side';

const rates = [0.1, 0.2, 0.5, 1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 80, 100, 150, 200, 300, 500, 1000];
const counts = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];
const lengths = [32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072];
const limits = [0, 5, 10, 20, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000, 10000];
/** Until an answer says what is legal. */
const degrees = [1, 2, 4, 8, 16, 32];

function Limit({ name, label, problems }: { name: string; label: string; problems: Problem[] }): JSX.Element {
  return (
    <NumberField
      label={label}
      hint="99 in 100 requests within; 0: any"
      name={name}
      free
      read={milliseconds}
      value={number(name, 0)}
      values={limits}
      show={(value) => (value === 0 ? 'any' : `${grouped(value)} ms`)}
      problems={problemsOf(problems, name)}
      onChange={(value) => change({ [name]: value === 0 ? undefined : value })}
    />
  );
}

function Count({
  name,
  label,
  fallback,
  values = counts,
  hint,
  free,
  read,
  problems,
}: {
  name: string;
  label: string;
  fallback: number;
  values?: number[];
  hint?: string;
  free?: boolean;
  read?: (text: string) => number | null;
  problems: Problem[];
}): JSX.Element {
  return (
    <NumberField
      label={label}
      name={name}
      {...(hint ? { hint } : {})}
      {...(free ? { free } : {})}
      {...(read ? { read } : {})}
      value={number(name, fallback)}
      values={values}
      show={(value) => (Number.isInteger(value) ? grouped(value) : String(value))}
      problems={problemsOf(problems, name)}
      onChange={(value) => change({ [name]: value })}
    />
  );
}

function Engines({ used }: { used: Used }): JSX.Element {
  const both = split2();
  const { problems, choices } = used;
  const experts = (choices?.['ep']?.length ?? 1) > 1 || number('ep', 1) > 1 || number('dp', 1) > 1;
  return (
    <>
      <h2>Engines</h2>
      <Toggle
        label="prompts and tokens on engines of their own"
        name="pools"
        checked={both}
        onChange={(on) => change({ pools: on ? '2' : undefined })}
      />
      {both ? (
        <>
          <Count name="prefill_workers" label="Prompt engines" fallback={1} problems={problems} />
          <Count
            name="prefill_tp"
            label="Tensor of each"
            fallback={number('tp', 4)}
            values={choices?.['tp'] ?? degrees}
            problems={problems}
          />
          <Count name="decode_workers" label="Token engines" fallback={1} problems={problems} />
          <Count
            name="decode_tp"
            label="Tensor of each"
            fallback={number('tp', 4)}
            values={choices?.['tp'] ?? degrees}
            problems={problems}
          />
        </>
      ) : (
        <>
          <Count name="replicas" label="Engines" hint="replicas behind a router" fallback={1} problems={problems} />
          <Count name="tp" label="Tensor" fallback={4} values={choices?.['tp'] ?? degrees} problems={problems} />
          <Count name="pp" label="Pipeline" fallback={1} values={choices?.['pp'] ?? degrees} problems={problems} />
        </>
      )}
      {experts && (
        <>
          <Count
            name="dp"
            label="Attention replicas"
            hint="replicas of attention in an engine, each with its own requests"
            fallback={1}
            values={choices?.['dp'] ?? degrees}
            problems={problems}
          />
          <Count
            name="ep"
            label="Experts"
            hint="expert-parallel degree"
            fallback={1}
            values={choices?.['ep'] ?? degrees}
            problems={problems}
          />
        </>
      )}
    </>
  );
}

function Lengths({ problems }: { problems: Problem[] }): JSX.Element {
  return (
    <>
      <Count
        name="input"
        label="Input"
        hint="tokens of a prompt"
        fallback={1024}
        values={lengths}
        free
        problems={problems}
      />
      <Count
        name="output"
        label="Output"
        hint="tokens generated"
        fallback={256}
        values={lengths}
        free
        problems={problems}
      />
      <Choice
        label="Lengths"
        name="lengths"
        value={params.value['lengths'] ?? 'fixed'}
        options={['fixed', 'uniform', 'lognormal']}
        problems={problemsOf(problems, 'lengths')}
        onChange={(next) => change({ lengths: next === 'fixed' ? undefined : next })}
      />
    </>
  );
}

function TraceField(): JSX.Element {
  const given = trace.value;
  return (
    <div class="drop" {...dropped((file) => void takeTrace(file))}>
      <p class="note">
        {given
          ? `${given.name}, ${grouped(given.requests)} lines`
          : 'A CSV with arrival, input and output; Azure’s CSV; Mooncake’s JSON lines; ShareGPT’s JSON.'}
      </p>
      <FileButton
        label="trace of requests"
        accept=".csv,.json,.jsonl,.gz,text/csv,application/json"
        take={(file) => void takeTrace(file)}
      />
      <span class="hint">or drop it here</span>
      {given && !params.value['rate'] && (
        <p class="note">
          It comes as it was recorded.{' '}
          <button type="button" class="quiet" onClick={() => change({ rate: 2 })}>
            Another rate
          </button>
        </p>
      )}
      {given && given.requests > mostRequests && <p class="note">The first {grouped(mostRequests)} are simulated.</p>}
    </div>
  );
}

export function ServingForm({ used, runtime }: { used: Used; runtime: string }): JSX.Element {
  const problems = used.problems;
  const arrivals = params.value['arrivals'] ?? 'poisson';
  return (
    <Side title="Serving" unfolded>
      <form class="scenario" onSubmit={(event) => event.preventDefault()}>
        <fieldset class="all" disabled={inlined !== null}>
          <Reset />
          <ModelField problems={problems} take={pick} />
          <Picker
            label="System"
            name="system"
            value={params.value['system'] ?? ''}
            options={systemOptions()}
            problems={problemsOf(problems, 'system')}
            onChange={(system) => pick({ system })}
          />
          <Picker
            label="Engine"
            name="engine"
            value={runtime}
            options={runtimeOptions(false)}
            problems={problemsOf(problems, 'runtime')}
            onChange={(engine) => change({ engine })}
          />
          <h2>Requests</h2>
          <Choice
            label="Arrive"
            name="arrivals"
            value={arrivals}
            options={[
              ['poisson', 'at random'],
              ['uniform', 'evenly'],
              ['burst', 'all at once'],
              ['closed', 'as users wait'],
              ['trace', 'as recorded'],
            ]}
            problems={problemsOf(problems, 'arrivals')}
            onChange={(next) =>
              change({
                arrivals: next === 'poisson' ? undefined : next,
                // A trace comes at its own rate, unless another is asked for.
                ...(next === 'trace' ? { rate: undefined } : {}),
              })
            }
          />
          {arrivals === 'closed' ? (
            <Count
              name="concurrency"
              label="Users"
              hint="each waits for its answer, then asks again"
              fallback={32}
              free
              problems={problems}
            />
          ) : (
            arrivals !== 'burst' &&
            (arrivals !== 'trace' || params.value['rate']) && (
              <Count
                name="rate"
                label="Rate"
                hint={arrivals === 'trace' ? 'requests a second: times are squeezed to it' : 'requests a second'}
                fallback={2}
                values={rates}
                free
                read={anyNumber}
                problems={problems}
              />
            )
          )}
          {arrivals === 'trace' ? <TraceField /> : <Lengths problems={problems} />}
          <AllowLong problems={problems} />
          {params.value['images'] && (
            <p class="note">Requests under load are of text alone: their images are left out.</p>
          )}
          <h2>Limits</h2>
          <Limit name="max_ttft_p99" label="TTFT p99" problems={problems} />
          <Limit name="max_tpot_p99" label="TPOT p99" problems={problems} />
          <PriceField problems={problems} />
          <Engines used={used} />
          <ServePrecision used={used} />
          <details open={params.value['speculate'] !== undefined}>
            <summary>More</summary>
            <Speculating used={used} />
          </details>
        </fieldset>
      </form>
    </Side>
  );
}
