// SPDX-License-Identifier: Apache-2.0
// Beside a prediction: what would move it, how far to trust it, what was assumed.
import type { JSX } from 'preact';
import { percent, signedPercent } from '../format';
import { address, params } from '../state';
import type { NearestCase, Sensitivity } from '../types';
import { resourceName } from '../words';
import { Figure } from './figure';

const effectOf = (entry: Sensitivity): number => entry.step_seconds ?? entry.tpot_seconds ?? entry.latency_seconds ?? 0;

export function SensitivityFigure({ entries, summary, of }: { entries: Sensitivity[]; summary: string | undefined; of: string }): JSX.Element {
  const sorted = [...entries].sort((a, b) => effectOf(a) - effectOf(b));
  const widest = Math.max(0.02, ...sorted.map((entry) => Math.abs(effectOf(entry))));
  const [labelled, row] = [190, 24];
  const height = sorted.length * row;
  // A fixed drawing, scaled to its column: eight short bars need no more.
  const width = 520;
  const x = (effect: number): number => labelled + (Math.abs(effect) / widest) * (width - labelled - 70);
  return (
    <Figure name="sensitivity" title="What would move it" note={summary}
      rows={() => sorted.map((entry) => ({ parameter: entry.parameter, change: entry.change, effect: effectOf(entry) }))}>
      <svg class="drawing" viewBox={`0 0 ${width} ${height}`} style={{ width: '100%', maxWidth: `${width}px`, aspectRatio: `${width} / ${height}` }} role="img"
        aria-label={`effect of a tenth more of each resource on ${of}`}>
        {sorted.map((entry, index) => {
          const effect = effectOf(entry);
          const y = index * row;
          const moves = Math.abs(effect) >= 0.0005;
          return (
            <g key={entry.parameter} font-size={13} fill="currentColor">
              <text x={0} y={y + row / 2} dy="0.35em">{`${entry.change > 0 ? '+' : '\u2212'}${Math.abs(entry.change * 100)} % ${resourceName(entry.parameter)}`}</text>
              <rect x={labelled} y={y + 6} width={Math.max(1, x(effect) - labelled)} height={row - 12} fill={moves ? 'var(--work)' : 'var(--rule)'} />
              <text x={x(effect) + 6} y={y + row / 2} dy="0.35em" fill={moves ? 'currentColor' : 'var(--faint)'}>{signedPercent(effect)}</text>
            </g>
          );
        })}
      </svg>
    </Figure>
  );
}

export function Trust({ cases }: { cases: NearestCase[] }): JSX.Element {
  return (
    <section class="trust">
      <h3>How far to trust it</h3>
      {cases.length === 0
        ? <p class="note">No measured case on this device or runtime ships with the program; <a href={address('accuracy', params.value)}>what was measured</a>.</p>
        : (
          <>
            <p class="note">Error of the nearest measured cases. <a href={address('accuracy', params.value)}>All of them</a>.</p>
            <table class="plain">
              <thead><tr><th scope="col">source</th><th scope="col" class="n">cases</th><th scope="col" class="n">median</th><th scope="col" class="n">mean</th></tr></thead>
              <tbody>
                {cases.map((entry) => (
                  <tr key={entry.group}><th scope="row">{entry.group}</th><td class="n">{entry.cases}</td><td class="n">{percent(entry.median_ape)}</td><td class="n">{percent(entry.mape)}</td></tr>
                ))}
              </tbody>
            </table>
          </>
        )}
    </section>
  );
}

export function Assumptions({ of }: { of: string[] }): JSX.Element | null {
  if (of.length === 0) return null;
  return (
    <section class="assumptions">
      <h3>Assumed</h3>
      <ul>{of.map((line) => <li key={line}>{line}</li>)}</ul>
    </section>
  );
}
