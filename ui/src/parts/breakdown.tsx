// SPDX-License-Identifier: Apache-2.0
// Where the time goes: a stacked bar that opens into the tree.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { percent, seconds } from '../format';
import type { Part } from '../types';
import { fill, meaningOf, toneOf } from '../words';
import { Drawing, Figure, Steady } from './figure';
import type { Row } from './download';

/** Parts that would be said to be 0.0 % only make the tree longer. */
const visible = (part: Part): boolean => part.share >= 0.0005;

/** The hatching that stands for waiting; each drawing carries its own so that it can be saved. */
export function Hatch(): JSX.Element {
  return (
    <defs>
      <pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="5" height="5" fill="var(--wait)" />
        <rect width="1.4" height="5" fill="var(--wait-line)" />
      </pattern>
    </defs>
  );
}

const letter = 6.4; // px, an average letter of a label
const fits = (text: string, width: number): boolean => text.length * letter + 12 <= width;

/** The longest of these texts that the segment has room for. */
const roomFor = (width: number, ...texts: string[]): string => texts.find((text) => fits(text, width)) ?? '';

function Segments({
  parts,
  x,
  y,
  height,
  scale,
  depth,
}: {
  parts: Part[];
  x: number;
  y: number;
  height: number;
  scale: number;
  depth: number;
}): JSX.Element {
  let at = x;
  return (
    <>
      {parts.filter(visible).map((part) => {
        const left = at;
        const width = part.seconds * scale;
        at += width;
        const tone = toneOf(part.label);
        const label = roomFor(width, `${part.label} ${percent(part.share)}`, part.label);
        return (
          <g key={part.label} class={`segment depth-${depth}`}>
            <title>{`${part.label}: ${seconds(part.seconds)}, ${percent(part.share)}`}</title>
            <rect
              x={left}
              y={y}
              width={Math.max(0, width - 1)}
              height={height}
              fill={fill(tone)}
              opacity={depth > 0 ? 0.78 : 1}
            />
            {label && (
              <text
                x={left + 7}
                y={y + height / 2}
                dy="0.35em"
                fill={`var(--on-${tone})`}
                font-size={depth > 0 ? 12 : 13.5}
              >
                {label}
              </text>
            )}
            {depth === 0 && part.parts.length > 0 && (
              <Segments parts={part.parts} x={left} y={y + height + 2} height={22} scale={scale} depth={1} />
            )}
          </g>
        );
      })}
    </>
  );
}

function flatten(part: Part, depth: number, path: string): Row[] {
  const here = path === '' ? part.label : `${path}/${part.label}`;
  return [
    { path: here, depth, seconds: part.seconds, share: part.share },
    ...part.parts.flatMap((child) => flatten(child, depth + 1, here)),
  ];
}

function Branch({ part, depth, largest }: { part: Part; depth: number; largest: number }): JSX.Element {
  const [open, setOpen] = useState(true);
  const children = part.parts.filter(visible);
  return (
    <>
      <tr class={`depth-${depth}`}>
        <th scope="row" style={{ paddingLeft: `${depth * 1.15}rem` }}>
          {children.length > 0 ? (
            <button type="button" class="disclosure" aria-expanded={open} onClick={() => setOpen(!open)}>
              {part.label}
            </button>
          ) : (
            <span class="leaf">{part.label}</span>
          )}
        </th>
        <td class="bar" aria-hidden="true">
          <svg width="100%" height="10">
            <rect
              width={`${(part.seconds / largest) * 100}%`}
              height="10"
              fill={toneOf(part.label) === 'wait' ? 'var(--wait-line)' : `var(--${toneOf(part.label)})`}
            />
          </svg>
        </td>
        <td class="n">{seconds(part.seconds)}</td>
        <td class="n">{percent(part.share)}</td>
        <td class="meaning">{meaningOf(part.label)}</td>
      </tr>
      {open && children.map((child) => <Branch key={child.label} part={child} depth={depth + 1} largest={largest} />)}
    </>
  );
}

/** Every segment with its name; of two that are called the same, with the whole's that it is a part of. */
export function segmentsOf(parts: Part[]): { part: Part; name: string }[] {
  const labels = parts.flatMap((whole) => whole.parts.filter(visible).map(({ label }) => label));
  const shared = (label: string): boolean => labels.indexOf(label) !== labels.lastIndexOf(label);
  return parts
    .filter(visible)
    .flatMap((whole) => [
      { part: whole, name: whole.label },
      ...whole.parts
        .filter(visible)
        .map((part) => ({ part, name: shared(part.label) ? `${whole.label}: ${part.label}` : part.label })),
    ]);
}

/** Segments too narrow for their names, named below. */
function Unlabelled({ parts, scale }: { parts: Part[]; scale: number }): JSX.Element {
  const narrow = segmentsOf(parts).filter(({ part }) => !fits(part.label, part.seconds * scale));
  return (
    <p class="note narrow" aria-hidden="true">
      {narrow.map(({ part, name }, index) => (
        <span key={index} class="legend">
          <svg class="swatch" width="10" height="10">
            <Hatch />
            <rect width="10" height="10" fill={fill(toneOf(part.label))} />
          </svg>
          {name} {percent(part.share)}
        </span>
      ))}
    </p>
  );
}

export function Breakdown({ of, title }: { of: Part; title: string }): JSX.Element {
  const [open, setOpen] = useState(true);
  const nested = of.parts.some((part) => part.parts.length > 0);
  return (
    <Figure name="breakdown" title={title} rows={() => flatten(of, 0, '')}>
      <Drawing
        height={nested ? 72 : 46}
        label={`${title}: ${of.parts.map((part) => `${part.label} ${percent(part.share)}`).join(', ')}`}
        below={(width) => (
          <Steady reset={of.label}>
            <Unlabelled parts={of.parts} scale={width / of.seconds} />
          </Steady>
        )}
      >
        {(width) => (
          <>
            <Hatch />
            <Segments parts={of.parts} x={0} y={0} height={46} scale={width / of.seconds} depth={0} />
          </>
        )}
      </Drawing>
      <button type="button" class="quiet opener" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? 'Close the tree' : 'Open the tree'}
      </button>
      {open && (
        <Steady reset={of.label}>
          <table class="tree">
            <tbody>
              {of.parts.filter(visible).map((part) => (
                <Branch key={part.label} part={part} depth={0} largest={of.seconds} />
              ))}
            </tbody>
          </table>
        </Steady>
      )}
    </Figure>
  );
}
