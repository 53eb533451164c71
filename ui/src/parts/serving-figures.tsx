// SPDX-License-Identifier: Apache-2.0
// Serving in figures: latencies by rate and by share of requests, and the load over time.
import type { ComponentChildren, JSX } from 'preact';
import { areaY, dot, line, pointer, ruleX, ruleY, text, tip } from '@observablehq/plot';
import type { PlotOptions } from '@observablehq/plot';
import { digits, seconds, timeUnit } from '../format';
import { limitOf } from '../serving';
import type { RatePoint, TrafficAnswer } from '../types';
import { Figure, PlotBox, decades, tipStyle } from './figure';

type Metric = 'ttft_seconds' | 'tpot_seconds';
const names: Record<Metric, string> = { ttft_seconds: 'TTFT', tpot_seconds: 'TPOT' };
const tones: Record<Metric, string> = { ttft_seconds: 'var(--work)', tpot_seconds: 'var(--link)' };

interface CurveRow {
  metric: Metric;
  quantile: 'p50' | 'p99';
  rate: number;
  time: number;
}

function byRate(answer: TrafficAnswer): (width: number) => PlotOptions {
  const metrics: Metric[] = ['ttft_seconds', 'tpot_seconds'];
  const rows = (answer.curve ?? []).flatMap((point: RatePoint) =>
    metrics.flatMap((metric) =>
      (['p50', 'p99'] as const).map((quantile): CurveRow => ({
        metric,
        quantile,
        rate: point.rate,
        time: point[metric][quantile] * 1e3,
      })),
    ),
  );
  const range: [number, number] = [
    Math.min(...rows.map((row) => row.time)) / 1.2,
    Math.max(...rows.map((row) => row.time)) * 1.2,
  ];
  const knee = answer.knee_requests_per_second;
  const last = rows.filter((row) => row.rate === Math.max(...rows.map((other) => other.rate)));
  // The half is named where its name does not lie on the other's.
  const ends = last.filter(
    (row) =>
      row.quantile === 'p99' ||
      last.every(
        (other) => other === row || Math.abs(Math.log(other.time / row.time)) > 0.05 * Math.log(range[1] / range[0]),
      ),
  );
  const bounds = metrics.flatMap((metric) => {
    const limit = limitOf(metric === 'ttft_seconds' ? 'max_ttft_p99' : 'max_tpot_p99');
    return limit === null || limit * 1e3 < range[0] || limit * 1e3 > range[1] ? [] : [{ metric, limit: limit * 1e3 }];
  });
  return () => ({
    marginLeft: 62,
    marginRight: 76,
    marginBottom: 42,
    x: { label: 'requests a second →', zero: true, grid: true },
    y: { type: 'log', domain: range, ticks: decades(...range), label: '↑ time (ms)', tickFormat: '~g', grid: true },
    marks: [
      ruleY(bounds, { y: 'limit', stroke: (row: { metric: Metric }) => tones[row.metric], strokeDasharray: '2 4' }),
      ruleX(answer.offered_requests_per_second > 0 ? [answer.offered_requests_per_second] : [], {
        stroke: 'currentColor',
        strokeDasharray: '4 3',
      }),
      text(answer.offered_requests_per_second > 0 ? [answer.offered_requests_per_second] : [], {
        x: (value: number) => value,
        frameAnchor: 'top',
        text: () => 'offered',
        dy: -10,
        fill: 'currentColor',
      }),
      line(rows, {
        x: 'rate',
        y: 'time',
        z: (row: CurveRow) => row.metric + row.quantile,
        stroke: (row: CurveRow) => tones[row.metric],
        strokeWidth: 1.8,
        strokeOpacity: (row: CurveRow) => (row.quantile === 'p99' ? 1 : 0.55),
      }),
      dot(rows, {
        x: 'rate',
        y: 'time',
        r: (row: CurveRow) => (row.rate === knee ? 6 : 2.5),
        fill: (row: CurveRow) => tones[row.metric],
      }),
      text(ends, {
        x: 'rate',
        y: 'time',
        text: (row: CurveRow) => `${names[row.metric]} ${row.quantile}`,
        textAnchor: 'start',
        dx: 8,
        fill: 'currentColor',
      }),
      tip(
        rows,
        pointer({
          x: 'rate',
          y: 'time',
          title: (row: CurveRow) =>
            `${names[row.metric]} ${row.quantile}\n${seconds(row.time / 1e3)} at ${digits(row.rate)} requests/s`,
          ...tipStyle,
        }),
      ),
    ],
  });
}

interface ShareRow {
  metric: Metric;
  time: number;
  share: number;
}

function distribution(answer: TrafficAnswer): (width: number) => PlotOptions {
  const rows = (answer.distribution ?? []).flatMap((point): ShareRow[] => [
    { metric: 'ttft_seconds', time: point.ttft_seconds * 1e3, share: point.share },
    { metric: 'tpot_seconds', time: point.tpot_seconds * 1e3, share: point.share },
  ]);
  const times = rows.map((row) => row.time).filter((time) => time > 0);
  const range: [number, number] = [Math.min(...times) / 1.1, Math.max(...times) * 1.1];
  return () => ({
    marginLeft: 52,
    marginBottom: 42,
    x: { type: 'log', domain: range, ticks: decades(...range), label: 'time (ms) →', tickFormat: '~g', grid: true },
    y: { domain: [0, 1], tickFormat: '.0%', label: '↑ of the requests, within', grid: true },
    marks: [
      ruleY([0.99], { stroke: 'var(--faint)', strokeDasharray: '2 3' }),
      line(
        rows.filter((row) => row.time > 0),
        { x: 'time', y: 'share', z: 'metric', stroke: (row: ShareRow) => tones[row.metric], strokeWidth: 1.8 },
      ),
    ],
  });
}

function load(answer: TrafficAnswer): (width: number) => PlotOptions {
  const points = answer.load ?? [];
  const last = points[points.length - 1]?.seconds ?? 1;
  const { size, unit } = last >= 600 ? { size: 60, unit: 'min' } : timeUnit(last);
  const x = (point: { seconds: number }): number => point.seconds / size;
  return () => ({
    marginLeft: 52,
    marginBottom: 42,
    x: { label: `time (${unit}) →`, grid: true },
    y: { label: '↑ requests', grid: true, zero: true },
    marks: [
      areaY(points, { x, y: 'running', fill: 'var(--work-2)', fillOpacity: 0.6 }),
      line(points, { x, y: 'waiting', stroke: 'var(--red)', strokeWidth: 1.6 }),
    ],
  });
}

function Key({ tone, children }: { tone: string; children: ComponentChildren }): JSX.Element {
  return (
    <span class="legend">
      <i class="key" style={{ background: tone }} /> {children}
    </span>
  );
}

export function ServingFigures({ answer }: { answer: TrafficAnswer }): JSX.Element {
  const keys = (
    <>
      <Key tone={tones.ttft_seconds}>TTFT</Key>
      <Key tone={tones.tpot_seconds}>TPOT</Key>
    </>
  );
  return (
    <>
      {answer.curve && (
        <Figure
          name="rates"
          title={
            answer.knee_requests_per_second
              ? `Good up to ${digits(answer.knee_requests_per_second)} requests a second`
              : 'Latency against the rate'
          }
          note={
            <>
              {keys} The pale line is the half, the full one 99 in 100; the large dots are the knee, the most that stays
              within{' '}
              {limitOf('max_ttft_p99') || limitOf('max_tpot_p99') ? 'the limits' : 'twice the wait of an idle engine'}.
            </>
          }
          rows={() =>
            (answer.curve ?? []).map((point) => ({
              rate: point.rate,
              ttft_p50: point.ttft_seconds.p50,
              ttft_p99: point.ttft_seconds.p99,
              tpot_p50: point.tpot_seconds.p50,
              tpot_p99: point.tpot_seconds.p99,
              output_tokens_per_second: point.output_tokens_per_second,
              goodput_requests_per_second: point.goodput_requests_per_second,
            }))
          }
        >
          <PlotBox draw={byRate(answer)} of={[answer]} height={320} label="latencies by rate" />
        </Figure>
      )}
      <div class="pair">
        {answer.distribution && (
          <Figure
            name="distribution"
            title="How long users wait"
            note={keys}
            rows={() => (answer.distribution ?? []).map((point) => ({ ...point }))}
          >
            <PlotBox draw={distribution(answer)} of={[answer]} height={260} label="latencies by share of requests" />
          </Figure>
        )}
        {answer.load && (
          <Figure
            name="load"
            title="Requests over time"
            note={
              <>
                <Key tone="var(--work-2)">running</Key>
                <Key tone="var(--red)">waiting</Key>
              </>
            }
            rows={() => (answer.load ?? []).map((point) => ({ ...point }))}
          >
            <PlotBox draw={load(answer)} of={[answer]} height={260} label="requests that run and wait, over time" />
          </Figure>
        )}
      </div>
    </>
  );
}
