// SPDX-License-Identifier: Apache-2.0
// The form of Serving: requests, limits, engines.
import type { JSX } from 'preact';
import { inlined } from '../api';
import { pick } from '../choose';
import { anyNumber, grouped, milliseconds } from '../format';
import { mostRequests, split2, takeTrace, trace } from '../serving';
import { change, params } from '../state';
import { ChoiceField, CountField, legal, number } from './bound';
import type { Used } from './bound';
import { Choice, Picker, Toggle, problemsOf } from './fields';
import { FileButton, dropped } from './files';
import {
  AllowLong,
  ModelField,
  PriceField,
  Reset,
  ServePrecision,
  Speculating,
  attentionReplicas,
  runtimeOptions,
  systemOptions,
} from './scenario';
import { Side } from './side';

const rates = [0.1, 0.2, 0.5, 1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 80, 100, 150, 200, 300, 500, 1000];
const counts = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];
const lengths = [32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072];
const limits = [0, 5, 10, 20, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000, 10000];
/** Until an answer says what is legal. */
const degrees = [1, 2, 4, 8, 16, 32];

function Limit({ name, label, used }: { name: string; label: string; used: Used }): JSX.Element {
  return (
    <CountField
      label={label}
      hint="99 in 100 requests within; 0: any"
      name={name}
      used={used}
      fallback={0}
      values={limits}
      show={(value) => (value === 0 ? 'any' : `${grouped(value)} ms`)}
      read={milliseconds}
      free
      usual={0}
    />
  );
}

/** Tensor-parallel degree, or another, of each engine; of a pool those of one engine are legal. */
function Degree({
  name,
  used,
  label,
  hint,
  of = name,
}: {
  name: string;
  used: Used;
  label?: string;
  hint?: string;
  of?: string;
}): JSX.Element {
  const values = legal(of, used) ?? degrees;
  const fallback = of === 'tp' ? (of === name ? 4 : number('tp', used, 4)) : 1;
  return (
    <CountField
      name={name}
      used={used}
      fallback={fallback}
      values={values}
      {...(label ? { label } : {})}
      {...(hint ? { hint } : {})}
    />
  );
}

function Engines({ used }: { used: Used }): JSX.Element {
  const both = split2();
  const experts = (used.choices?.['ep']?.length ?? 1) > 1 || ['ep', 'dp'].some((name) => number(name, used, 1) > 1);
  const engines = { used, fallback: 1, values: counts };
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
          <CountField name="prefill_workers" label="Prompt engines" {...engines} />
          <Degree name="prefill_tp" label="Tensor of each" of="tp" used={used} />
          <CountField name="decode_workers" label="Token engines" {...engines} />
          <Degree name="decode_tp" label="Tensor of each" of="tp" used={used} />
        </>
      ) : (
        <>
          <CountField name="replicas" hint="replicas behind a router" {...engines} />
          <Degree name="tp" used={used} />
          <Degree name="pp" used={used} />
        </>
      )}
      {experts && (
        <>
          <Degree {...attentionReplicas} used={used} />
          <Degree name="ep" used={used} />
        </>
      )}
    </>
  );
}

function Lengths({ used }: { used: Used }): JSX.Element {
  const kinds = ['fixed', 'uniform', 'lognormal'];
  return (
    <>
      <CountField name="input" used={used} fallback={1024} values={lengths} free />
      <CountField name="output" used={used} fallback={256} values={lengths} free />
      <ChoiceField name="lengths" label="Lengths" used={used} fallback="fixed" options={kinds} usual="fixed" />
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
            <CountField
              name="concurrency"
              hint="each waits for its answer, then asks again"
              used={used}
              fallback={32}
              values={counts}
              free
            />
          ) : (
            arrivals !== 'burst' &&
            (arrivals !== 'trace' || params.value['rate']) && (
              <CountField
                name="rate"
                hint={arrivals === 'trace' ? 'requests a second: times are squeezed to it' : 'requests a second'}
                used={used}
                fallback={2}
                values={rates}
                read={anyNumber}
                free
              />
            )
          )}
          {arrivals === 'trace' ? <TraceField /> : <Lengths used={used} />}
          <AllowLong problems={problems} />
          {params.value['images'] && (
            <p class="note">Requests under load are of text alone: their images are left out.</p>
          )}
          <h2>Limits</h2>
          <Limit name="max_ttft_p99" label="TTFT p99" used={used} />
          <Limit name="max_tpot_p99" label="TPOT p99" used={used} />
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
