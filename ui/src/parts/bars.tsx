// SPDX-License-Identifier: Apache-2.0
// Horizontal bars with a name on the left and a number at the end, at the width there is.
import type { JSX } from 'preact';
import { Drawing } from './figure';

export interface Bar {
  label: string;
  /** Signed: negative bars grow to the left of the zero line. */
  value: number;
  text: string;
  tone?: string;
  faint?: boolean;
  after?: string;
  /** Where the value lies, nine times in ten. */
  range?: { low: number; high: number };
}

const row = 25;
const letter = 6.6; // px, an average letter

export function Bars({ bars, label, most }: { bars: Bar[]; label: string; most?: number }): JSX.Element {
  const height = Math.max(1, bars.length) * row;
  return (
    <Drawing height={height} label={label}>
      {(width) => drawn(bars, width, height, most)}
    </Drawing>
  );
}

/** A name that its bar would cover ends before it. */
function shortened(name: string, room: number): string {
  const letters = Math.floor(room / letter);
  return name.length <= letters ? name : `${name.slice(0, letters - 1).trimEnd()}…`;
}

function drawn(bars: Bar[], width: number, height: number, most: number | undefined): JSX.Element {
  const room = (texts: string[]): number => Math.max(0, ...texts.map((text) => text.length)) * letter + 10;
  const names = Math.min(width * 0.48, room(bars.map((bar) => bar.label)) + 6);
  const ends = room(bars.map((bar) => `${bar.text} ${bar.after ?? ''}`));
  const low = Math.min(0, ...bars.map((bar) => bar.value));
  const high = Math.max(most ?? 0, ...bars.map((bar) => Math.max(bar.value, bar.range?.high ?? 0)));
  const scale = Math.max(10, width - names - ends) / (high - low || 1);
  const zero = names - low * scale;
  return (
    <>
      {bars.map((bar, index) => {
        const end = zero + bar.value * scale;
        const y = index * row;
        return (
          <g key={bar.label} font-size={13.5} fill="currentColor">
            <text x={0} y={y + row / 2} dy="0.35em">
              {shortened(bar.label, names)}
              {shortened(bar.label, names) !== bar.label && <title>{bar.label}</title>}
            </text>
            <rect
              x={Math.min(zero, end)}
              y={y + 5}
              width={Math.max(1, Math.abs(end - zero))}
              height={row - 10}
              fill={bar.tone ?? 'var(--work)'}
            />
            {bar.range && (
              <path
                class="whisker"
                d={`M${zero + bar.range.low * scale} ${y + row / 2}H${zero + bar.range.high * scale}m0 -3v6`}
                stroke="currentColor"
              />
            )}
            <text
              x={Math.max(zero, end, zero + (bar.range?.high ?? 0) * scale) + 6}
              y={y + row / 2}
              dy="0.35em"
              fill={bar.faint ? 'var(--faint)' : 'currentColor'}
            >
              {bar.text}
              {bar.after && (
                <tspan fill="var(--faint)" dx={8}>
                  {bar.after}
                </tspan>
              )}
            </text>
          </g>
        );
      })}
      {low < 0 && <path d={`M${zero} 0V${height}`} stroke="currentColor" />}
    </>
  );
}
