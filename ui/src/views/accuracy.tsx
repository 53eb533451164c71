// SPDX-License-Identifier: Apache-2.0
// Accuracy: predicted against measured, a small multiple for each source.
import type { JSX } from 'preact';
import { areaY, binX, dot, line, pointer, rectY, ruleX, tip } from '@observablehq/plot';
import type { PlotOptions } from '@observablehq/plot';
import { post } from '../api';
import { digits, grouped, percent, seconds, signedPercent } from '../format';
import { useLive } from '../live';
import { Placeholder } from '../parts/answered';
import { Problems } from '../parts/fields';
import { Figure, PlotBox, SaveCsv, decades, tipStyle } from '../parts/figure';
import { Table } from '../parts/table';
import type { Column } from '../parts/table';
import type { ValidateAnswer, ValidationGroup, ValidationRow } from '../types';
import { Headline, split } from './predict';

const valueOf = (row: ValidationRow, value: number): string =>
  row.metric.endsWith('seconds') ? seconds(value) : digits(value, 4);

const within = (rows: ValidationRow[], bound: number): number =>
  rows.filter((row) => Math.abs(row.error) <= bound).length / rows.length;

function scatter(rows: ValidationRow[]): (width: number) => PlotOptions {
  const values = rows.flatMap((row) => [row.measured, row.predicted]);
  const low = Math.min(...values) / 1.4;
  const high = Math.max(...values) * 1.4;
  const ends = [low, high];
  const isTime = rows[0]?.metric.endsWith('seconds') ?? false;
  const axis = {
    type: 'log' as const,
    domain: [low, high],
    ticks: decades(low, high),
    tickFormat: isTime ? (value: number) => seconds(value, 2).replace(/\.0\b/, '') : '~s',
  };
  return () => ({
    marginLeft: 52,
    marginBottom: 36,
    marginRight: 10,
    grid: true,
    x: { ...axis, label: 'measured →' },
    y: { ...axis, label: '↑ predicted' },
    marks: [
      areaY(ends, {
        x: (v: number) => v,
        y1: (v: number) => v * 0.9,
        y2: (v: number) => v * 1.1,
        fill: 'var(--rule)',
        fillOpacity: 0.7,
      }),
      line(ends, { x: (v: number) => v, y: (v: number) => v, stroke: 'var(--faint)' }),
      dot(rows, { x: 'measured', y: 'predicted', r: 2.6, fill: 'var(--work)', fillOpacity: 0.65 }),
      tip(
        rows,
        pointer({
          x: 'measured',
          y: 'predicted',
          ...tipStyle,
          title: (row: ValidationRow) =>
            `${row.id}\nmeasured ${valueOf(row, row.measured)}\npredicted ${valueOf(row, row.predicted)}\nerror ${signedPercent(row.error)}${row.bound ? `\nbound by ${row.bound}` : ''}`,
        }),
      ),
    ],
  });
}

function GroupFigure({ group, rows }: { group: ValidationGroup; rows: ValidationRow[] }): JSX.Element {
  return (
    <Figure
      name={`accuracy-${group.name}`}
      title={group.name}
      class="small"
      rows={() => rows.map((row) => ({ ...row }))}
      note={`${grouped(group.cases)} cases, median error ${percent(group.median_ape)}`}
    >
      <PlotBox draw={scatter(rows)} of={[rows]} height={270} label={`${group.name}: predicted against measured`} />
    </Figure>
  );
}

const reach = 0.4; // errors beyond are counted in the last bin

function Spread({ rows }: { rows: ValidationRow[] }): JSX.Element {
  const draw = (): PlotOptions => ({
    marginLeft: 52,
    marginBottom: 36,
    marginRight: 10,
    x: { domain: [-reach, reach], tickFormat: '+.0%', ticks: 5, label: 'error of the prediction →' },
    y: { grid: true, label: '↑ cases', ticks: 5 },
    marks: [
      rectY(rows, {
        ...binX(
          { y: 'count' },
          { x: (row: ValidationRow) => Math.max(-reach, Math.min(reach - 1e-9, row.error)), thresholds: 32 },
        ),
        fill: 'var(--work)',
        inset: 0.5,
      }),
      ruleX([0], { stroke: 'currentColor' }),
    ],
  });
  return (
    <Figure
      name="accuracy-errors"
      title="All errors"
      class="small"
      note="too fast on the left, too slow on the right"
      rows={() => rows.map(({ id, group, error }) => ({ id, group, error }))}
    >
      <PlotBox draw={draw} of={[rows]} height={270} label="histogram of errors" />
    </Figure>
  );
}

function ErrorTable({ groups }: { groups: ValidationGroup[] }): JSX.Element {
  const widest = Math.max(...groups.map((group) => group.p90_ape));
  const columns: Column<ValidationGroup>[] = [
    { label: 'source', kind: 'name', of: (group) => group.name },
    { label: 'cases', of: (group) => grouped(group.cases) },
    {
      label: 'median, mean and 90th percentile',
      kind: 'text',
      wide: true,
      of: (group) => (
        <svg width="220" height="14" aria-hidden="true" class="range">
          <rect y="6" width={(group.p90_ape / widest) * 214} height="2" fill="var(--rule-2)" />
          <rect y="3" width={(group.median_ape / widest) * 214} height="8" fill="var(--work)" />
          <rect x={(group.mape / widest) * 214} y="1" width="2" height="12" fill="currentColor" />
        </svg>
      ),
    },
    { label: 'median', of: (group) => percent(group.median_ape) },
    { label: 'mean', of: (group) => percent(group.mape) },
    { label: 'p90', of: (group) => percent(group.p90_ape) },
    { label: 'bias', of: (group) => signedPercent(group.bias) },
    { label: 'not expressed', wide: true, of: (group) => group.unsupported || '–' },
  ];
  return (
    <Table
      label="Errors by source"
      class="errors"
      columns={columns}
      rows={groups}
      row={(group) => ({ class: group.name === 'all' ? 'total' : '' })}
    />
  );
}

function Result({ answer }: { answer: ValidateAnswer }): JSX.Element {
  const sources = answer.groups.filter((group) => group.name !== 'all');
  const all = answer.groups.find((group) => group.name === 'all');
  return (
    <div class="result" data-ready="true">
      <header class="title">
        <h1>Predicted against measured</h1>
        <p class="subtitle">
          The cases that ship with the program, computed now, by the same code as every other answer. The band is ±10 %.
        </p>
      </header>
      <dl class="headlines">
        {all && (
          <Headline
            main
            label="median error"
            {...split(percent(all.median_ape))}
            detail={`mean ${percent(all.mape)}, 90th percentile ${percent(all.p90_ape)}`}
          />
        )}
        <Headline
          label="measured cases"
          value={grouped(answer.rows.length)}
          detail={`from ${sources.length} sources`}
        />
        <Headline
          label="within 10 %"
          {...split(percent(within(answer.rows, 0.1), 0))}
          detail={`${percent(within(answer.rows, 0.2), 0)} within 20 %`}
        />
        {all && <Headline label="bias" {...split(signedPercent(all.bias))} detail="of all cases, the sign kept" />}
      </dl>
      <div class="multiples">
        {sources.map((group) => (
          <GroupFigure key={group.name} group={group} rows={answer.rows.filter((row) => row.group === group.name)} />
        ))}
        <Spread rows={answer.rows} />
      </div>
      <section>
        <header class="caption">
          <h3>Error by source</h3>
          <SaveCsv name="errors" title="Error by source" rows={() => answer.groups.map((group) => ({ ...group }))} />
        </header>
        <ErrorTable groups={answer.groups} />
      </section>
    </div>
  );
}

export function Accuracy(): JSX.Element {
  const live = useLive<ValidateAnswer>('all', (signal) => post('/validate', {}, signal));
  return (
    <main class="whole">
      {live.answer ? (
        <Result answer={live.answer} />
      ) : (
        <Placeholder busy={live.busy}>
          <Problems of={live.problems} />
        </Placeholder>
      )}
    </main>
  );
}
