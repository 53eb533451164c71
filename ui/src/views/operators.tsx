// SPDX-License-Identifier: Apache-2.0
// Operators: every kernel on the roofline, and the table of where the time goes.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { dot, line, pointer, ruleX, text, tip } from '@observablehq/plot';
import type { PlotOptions } from '@observablehq/plot';
import { choosing } from '../choose';
import { post } from '../api';
import { byteRate, digits, flopRate, flops, grouped, percent, seconds, traffic } from '../format';
import { useLive } from '../live';
import { useSystem } from '../made';
import { asAnswered } from '../overrides';
import { Answered } from '../parts/answered';
import { Choice } from '../parts/fields';
import { Figure, PlotBox, SaveCsv, decades, tipStyle } from '../parts/figure';
import { Scenario } from '../parts/scenario';
import { Table } from '../parts/table';
import type { Column } from '../parts/table';
import { change, kind, params, requestOf } from '../state';
import type { DeviceFacts, Fields, Operator, OpsAnswer } from '../types';
import { usedBy } from '../used';
import { useWhole } from '../whole';

const shareOf = (operator: Operator, whole: number): number =>
  operator.share ?? (operator.exposed_seconds * operator.runs) / whole;

const levels = ['dram', 'l2', 'shared'] as const;
type Level = (typeof levels)[number];
const levelNames: Record<Level, string> = { dram: 'DRAM', l2: 'L2', shared: 'shared memory' };
const levelTones: Record<Level, string> = { dram: 'var(--work)', l2: 'var(--work-2)', shared: 'var(--rest)' };
const bytesAt = (operator: Operator, level: Level): number =>
  (level === 'dram' ? operator.dram_bytes : level === 'l2' ? operator.l2_bytes : operator.shared_bytes) ?? 0;

interface Point {
  operator: Operator;
  level: Level;
  intensity: number;
  rate: number;
  share: number;
}

function pointsOf(answer: OpsAnswer): Point[] {
  return answer.operators.flatMap((operator) =>
    levels
      .filter((level) => operator.flops > 0 && bytesAt(operator, level) > 0 && operator.seconds > 0)
      .map((level) => ({
        operator,
        level,
        intensity: operator.flops / bytesAt(operator, level),
        rate: operator.flops / operator.seconds,
        share: shareOf(operator, answer.seconds),
      })),
  );
}

interface Ceiling {
  level: Level;
  bandwidth: number;
}

/** The answer has ridges, in FLOP a byte; with the peak they are bandwidths. Shared memory has the clock of the L2. */
function ceilingsOf(answer: OpsAnswer, peak: number, device: DeviceFacts | null): Ceiling[] {
  const list: Ceiling[] = [{ level: 'dram', bandwidth: peak / answer.dram_ridge }];
  if (!answer.l2_ridge) return list;
  const l2 = peak / answer.l2_ridge;
  list.push({ level: 'l2', bandwidth: l2 });
  if (device?.shared && device.l2.per_clock > 0)
    list.push({ level: 'shared', bandwidth: device.shared.per_clock * device.cores * (l2 / device.l2.per_clock) });
  return list;
}

const title = (point: Point): string =>
  [
    `${point.operator.name}${point.operator.pass ? `, ${point.operator.pass}` : ''}`,
    point.operator.shape,
    `${flopRate(point.rate)} at ${digits(point.intensity)} FLOP/B of ${levelNames[point.level]}`,
    `${flops(point.operator.flops)}, ${traffic(bytesAt(point.operator, point.level))} of ${levelNames[point.level]}`,
    `${seconds(point.operator.seconds)} × ${grouped(point.operator.runs)}: ${percent(point.share)}`,
    `bound by ${point.operator.bound}`,
  ]
    .filter((row) => row !== '')
    .join('\n');

function roofline(
  points: Point[],
  ceilings: Ceiling[],
  peak: number,
  picked: Operator | null,
): (width: number) => PlotOptions {
  const ridges = ceilings.map(({ bandwidth }) => peak / bandwidth);
  const low = Math.min(...ridges, ...points.map((point) => point.intensity)) / 6;
  const high = Math.max(...ridges, ...points.map((point) => point.intensity)) * 3;
  const floor = Math.min(peak / 30, ...points.map((point) => point.rate)) / 2;
  // A ceiling is drawn only as far as it is inside the frame.
  const roofs = ceilings.flatMap(({ level, bandwidth }) => [
    { level, x: Math.max(low, floor / bandwidth), y: Math.max(low * bandwidth, floor) },
    { level, x: peak / bandwidth, y: peak },
    { level, x: high, y: peak },
  ]);
  return (width) => {
    // Slope of the ceilings on paper: both axes are logarithmic, one decade has different lengths.
    const decade = (420 - 74) / Math.log10((peak * 2) / floor);
    const slope = Math.atan2(decade, (width - 90) / Math.log10(high / low));
    // A label lies on its ceiling, or under it where the next one leaves no room between them.
    const labels = ceilings.map(({ level, bandwidth }, index) => {
      const next = ceilings[index + 1];
      const under = next !== undefined && Math.log10(next.bandwidth / bandwidth) * decade * Math.cos(slope) < 20;
      const x = Math.max(low, floor / bandwidth) * (under ? 1.6 : 1.15);
      return { x, y: x * bandwidth, text: `${levelNames[level]} ${byteRate(bandwidth)}`, under };
    });
    return {
      marginLeft: 70,
      marginBottom: 42,
      grid: true,
      x: {
        type: 'log',
        domain: [low, high],
        label: 'arithmetic intensity (FLOP a byte) →',
        ticks: decades(low, high),
        tickFormat: '~g',
      },
      y: {
        type: 'log',
        domain: [floor, peak * 2],
        label: '↑ rate (FLOP/s)',
        ticks: decades(floor, peak * 2),
        tickFormat: '~s',
      },
      r: { range: [2.5, 10], domain: [0, Math.max(0.05, ...points.map((point) => point.share))] },
      color: { domain: [...levels], range: levels.map((level) => levelTones[level]) },
      marks: [
        line(roofs, { x: 'x', y: 'y', z: 'level', stroke: 'currentColor', strokeWidth: 1.2 }),
        ...[false, true].map((under) =>
          text(
            labels.filter((label) => label.under === under),
            {
              x: 'x',
              y: 'y',
              text: 'text',
              rotate: -slope * (180 / Math.PI),
              textAnchor: 'start',
              lineAnchor: under ? 'top' : 'bottom',
              dy: under ? 4 : -4,
              fill: 'currentColor',
            },
          ),
        ),
        text([{ x: high, y: peak }], {
          x: 'x',
          y: 'y',
          text: () => `peak ${flopRate(peak)}`,
          textAnchor: 'end',
          dy: -8,
          fill: 'currentColor',
        }),
        picked
          ? ruleX(
              points.filter((point) => point.operator === picked),
              { x: 'intensity', stroke: 'var(--faint)', strokeDasharray: '2 3' },
            )
          : null,
        dot(points, {
          x: 'intensity',
          y: 'rate',
          r: 'share',
          fill: 'level',
          fillOpacity: 0.72,
          stroke: 'var(--paper)',
          strokeWidth: 0.8,
          sort: { channel: 'r', reverse: true },
        }),
        picked
          ? dot(
              points.filter((point) => point.operator === picked),
              { x: 'intensity', y: 'rate', r: 'share', stroke: 'currentColor', strokeWidth: 2 },
            )
          : null,
        tip(points, pointer({ x: 'intensity', y: 'rate', title, ...tipStyle })),
      ],
    };
  };
}

type Key = 'share' | 'name' | 'seconds' | 'dram_bytes' | 'intensity' | 'bound';
const firstRows = 24; // the rest is below a hundredth of the time

const ordered = (operators: Operator[], by: Key, whole: number): Operator[] =>
  [...operators].sort((a, b) => {
    if (by === 'name' || by === 'bound') return a[by].localeCompare(b[by]);
    if (by === 'share') return shareOf(b, whole) - shareOf(a, whole);
    return (b[by] ?? 0) - (a[by] ?? 0);
  });

/** Its rate in what it mostly does: arithmetic, or moving bytes. */
function reached(operator: Operator): string {
  if (operator.seconds <= 0) return '–';
  if (operator.flops > 0) return flopRate(operator.flops / operator.seconds);
  const moved = operator.dram_bytes > 0 ? operator.dram_bytes : operator.message_bytes;
  return moved > 0 ? byteRate(moved / operator.seconds) : '–';
}

/** All there is to know of it, for the pointer that rests on its row. */
const facts = (operator: Operator): string =>
  [
    operator.shape,
    operator.flops > 0 ? flops(operator.flops) : '',
    `DRAM ${traffic(operator.dram_bytes)}`,
    operator.l2_bytes ? `L2 ${traffic(operator.l2_bytes)}` : '',
    operator.shared_bytes ? `shared ${traffic(operator.shared_bytes)}` : '',
    operator.message_bytes > 0 ? `sent ${traffic(operator.message_bytes)}` : '',
    `bound by ${operator.bound}`,
  ]
    .filter((text) => text !== '')
    .join('\n');

function columnsOf(
  by: Key,
  sortBy: (key: Key) => void,
  share: (operator: Operator) => number,
  widest: number,
): Column<Operator>[] {
  const sorts = (key: Key, label: string): Pick<Column<Operator>, 'label' | 'sorted'> => ({
    sorted: by === key ? (key === 'name' || key === 'bound' ? 'ascending' : 'descending') : 'none',
    label: (
      <button type="button" class="sort" onClick={() => sortBy(key)}>
        {label}
      </button>
    ),
  });
  return [
    {
      ...sorts('share', 'share'),
      kind: 'text',
      class: 'share',
      of: (operator) => (
        <>
          <svg width="44" height="10" aria-hidden="true">
            <rect width={(share(operator) / widest) * 44} height="10" fill="var(--work)" />
          </svg>
          {percent(share(operator))}
        </>
      ),
    },
    {
      ...sorts('name', 'operator'),
      kind: 'name',
      of: ({ name, part, pass }) => (
        <>
          {name}
          <small>{name.includes(part) ? pass : part}</small>
        </>
      ),
    },
    { label: 'shape', kind: 'text', wide: true, class: 'shape', of: ({ shape }) => shape },
    { label: 'runs', wide: true, of: ({ runs }) => grouped(runs) },
    { ...sorts('seconds', 'each'), of: (operator) => seconds(operator.seconds) },
    { label: 'reached', wide: true, of: reached },
    {
      ...sorts('dram_bytes', 'DRAM'),
      wide: true,
      of: ({ dram_bytes }) => (dram_bytes > 0 ? traffic(dram_bytes) : '–'),
    },
    { ...sorts('intensity', 'FLOP/B'), wide: true, of: ({ intensity }) => (intensity ? digits(intensity) : '–') },
    { ...sorts('bound', 'bound'), kind: 'text', of: ({ bound }) => bound },
  ];
}

function OperatorTable({
  answer,
  onPick,
}: {
  answer: OpsAnswer;
  onPick: (operator: Operator | null) => void;
}): JSX.Element {
  const [by, setBy] = useState<Key>('share');
  const [all, setAll] = useState(false);
  const operators = useMemo(() => ordered(answer.operators, by, answer.seconds), [answer, by]);
  const share = (operator: Operator): number => shareOf(operator, answer.seconds);
  return (
    <>
      <Table
        label="Operators"
        class="operators"
        columns={columnsOf(by, setBy, share, Math.max(...operators.map(share)))}
        rows={operators.slice(0, all ? undefined : firstRows)}
        row={(operator) => ({
          title: facts(operator),
          onMouseEnter: () => onPick(operator),
          onMouseLeave: () => onPick(null),
        })}
      />
      {operators.length > firstRows && (
        <button type="button" class="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Show the largest alone' : `Show all ${operators.length}`}
        </button>
      )}
    </>
  );
}

/** The rate of the device's arithmetic at the precision of the multiplies. */
const peakOf = (device: DeviceFacts | null, precision: string): number => {
  const peaks: Record<string, number> = device?.matrix ?? {};
  return peaks[precision] || peaks['bf16'] || 0;
};

function Result({
  answer,
  stale,
  device,
}: {
  answer: OpsAnswer;
  stale: boolean;
  device: DeviceFacts | null;
}): JSX.Element {
  const [picked, setPicked] = useState<Operator | null>(null);
  const points = useMemo(() => pointsOf(answer), [answer]);
  const peak = peakOf(device, answer.precision);
  const ceilings = useMemo(() => ceilingsOf(answer, peak, device), [answer, peak, device]);
  const without = answer.operators.length - new Set(points.map((point) => point.operator)).size;
  return (
    <div class={`result ${stale ? 'stale' : ''}`} data-ready={!stale}>
      <header class="title">
        <h1>Operators</h1>
        <p class="subtitle">
          {answer.title}
          {asAnswered(answer)}
        </p>
      </header>
      <Figure
        name="roofline"
        title="Roofline"
        rows={() =>
          points.map((point) => ({
            operator: point.operator.name,
            pass: point.operator.pass,
            shape: point.operator.shape,
            level: point.level,
            intensity_flop_per_byte: point.intensity,
            flop_per_second: point.rate,
            share: point.share,
            bound: point.operator.bound,
          }))
        }
        note={
          <>
            Each kernel is a dot on each memory level it uses (<i class="key" style={{ background: levelTones.dram }} />{' '}
            DRAM, <i class="key" style={{ background: levelTones.l2 }} /> L2,{' '}
            <i class="key" style={{ background: levelTones.shared }} /> shared memory); its size is its share of the
            time. {without > 0 ? `${without} operators without arithmetic are in the table alone.` : ''}
          </>
        }
      >
        {peak > 0 ? (
          <PlotBox
            draw={roofline(points, ceilings, peak, picked)}
            of={[points, ceilings, picked]}
            height={420}
            label="roofline of every kernel"
          />
        ) : (
          <div style={{ height: '420px' }} />
        )}
      </Figure>
      <section>
        <header class="caption">
          <h3>By share of the time</h3>
          <SaveCsv
            name="operators"
            title="Operators"
            rows={() => answer.operators.map((operator) => ({ ...operator, share: shareOf(operator, answer.seconds) }))}
          />
        </header>
        <OperatorTable answer={answer} onPick={setPicked} />
      </section>
    </div>
  );
}

export function Operators(): JSX.Element {
  const training = kind.value === 'train';
  const phase = params.value['phase'] ?? 'decode';
  const request = choosing.value ? null : requestOf(params.value);
  const body: Fields | null = request && { ...request, kernel: kind.value, ...(training ? {} : { phase }) };
  const live = useLive<OpsAnswer>(body && JSON.stringify(body), (signal) => post('/ops', body ?? {}, signal));
  const { answer: whole } = useWhole(choosing.value ? null : params.value);
  const device = useSystem()?.device ?? null;
  return (
    <div class="columns">
      <Scenario
        used={{ values: usedBy(whole), choices: whole?.choices, problems: live.problems }}
        extra={
          training ? null : (
            <Choice
              label="Phase"
              name="phase"
              value={phase}
              options={['prefill', 'decode']}
              onChange={(next) => change({ phase: next })}
            />
          )
        }
      />
      <Answered busy={live.busy} problems={live.problems}>
        {live.answer && <Result answer={live.answer} stale={live.problems.length > 0} device={device} />}
      </Answered>
    </div>
  );
}
