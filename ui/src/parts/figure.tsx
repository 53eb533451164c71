// SPDX-License-Identifier: Apache-2.0
// A figure: its title, its drawing, and the buttons that save it as SVG and CSV.
import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { plot } from '@observablehq/plot';
import type { PlotOptions } from '@observablehq/plot';
import { save, toCsv, toSvg } from './download';
import type { Row } from './download';
import { termOf } from '../words';

interface FigureProps {
  /** Also the file's name. */
  name: string;
  title: string;
  /** What to read from it, in a sentence. */
  note?: ComponentChildren;
  rows: () => Row[];
  children: ComponentChildren;
  extra?: ComponentChildren;
  class?: string;
}

/** A word that has a meaning, with its sentence for those who hover or ask. */
export function Word({ of }: { of: string }): JSX.Element {
  const means = termOf(of);
  return means ? <abbr title={means}>{of}</abbr> : <>{of}</>;
}

export function Figure({ name, title, note, rows, children, extra, class: className }: FigureProps): JSX.Element {
  const body = useRef<HTMLDivElement>(null);
  const saveSvg = (): void => {
    const svg = body.current?.querySelector<SVGSVGElement>('svg.drawing, figure svg, svg');
    if (svg) save(`sextant-${name}.svg`, 'image/svg+xml', toSvg(svg));
  };
  return (
    <figure class={`figure ${className ?? ''}`} data-figure={name}>
      <figcaption>
        <h3>
          <Word of={title} />
        </h3>
        <span class="saves">
          {extra}
          <button type="button" class="quiet" onClick={saveSvg} aria-label={`Save “${title}” as SVG`}>
            SVG
          </button>
          <CsvButton name={name} title={title} rows={rows} />
        </span>
      </figcaption>
      {note && <p class="note">{note}</p>}
      <div ref={body}>{children}</div>
    </figure>
  );
}

interface Saved {
  name: string;
  title: string;
  rows: () => Row[];
}

const CsvButton = ({ name, title, rows }: Saved): JSX.Element => (
  <button
    type="button"
    class="quiet"
    onClick={() => save(`sextant-${name}.csv`, 'text/csv', toCsv(rows()))}
    aria-label={`Save “${title}” as CSV`}
  >
    CSV
  </button>
);

/** For tables, which are no drawings. */
export const SaveCsv = (saved: Saved): JSX.Element => (
  <span class="saves">
    <CsvButton {...saved} />
  </span>
);

/** Ticks of a logarithmic axis: powers of ten, and between them where those are few. */
export function decades(low: number, high: number): number[] {
  const first = Math.floor(Math.log10(low));
  const powers = Array.from({ length: Math.floor(Math.log10(high)) - first + 1 }, (_, index) => 10 ** (first + index));
  const ticks = (steps: number[]): number[] =>
    powers
      .flatMap((power) => steps.map((step) => Number((step * power).toPrecision(3))))
      .filter((tick) => tick >= low && tick <= high);
  if (Math.log10(high / low) >= 2.2) return ticks([1]);
  const few = ticks([1, 2, 5]);
  return few.length > 2 ? few : ticks([1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8]);
}

/** The width an element has now, in CSS pixels. */
export function useWidth<T extends HTMLElement>(): [RefObject<T | null>, number] {
  const element = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const target = element.current;
    if (!target) return undefined;
    const measure = (): void => setWidth(Math.floor(target.clientWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(target);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}

/** An SVG as wide as there is room, its height reserved until that is known; below it what depends on the width too. */
export function Drawing({
  height,
  label,
  children,
  below,
}: {
  height: number;
  label: string;
  children: (width: number) => ComponentChildren;
  below?: (width: number) => ComponentChildren;
}): JSX.Element {
  const [holder, width] = useWidth<HTMLDivElement>();
  return (
    <div ref={holder} style={{ minHeight: `${height}px` }}>
      {width > 0 && (
        <svg
          class="drawing"
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          role="img"
          aria-label={label}
        >
          {children(width)}
        </svg>
      )}
      {below?.(width)}
    </div>
  );
}

/** Tips on the page's paper. */
export const tipStyle = { fill: 'var(--paper)', stroke: 'var(--rule-2)' } as const;

interface PlotProps {
  /** The options for a width; called again when `of` or the width changes. */
  draw: (width: number) => PlotOptions;
  of: readonly unknown[];
  height: number;
  label: string;
}

/** Observable Plot, at the width there is and a height that is reserved before the first answer. */
export function PlotBox({ draw, of, height, label }: PlotProps): JSX.Element {
  const [holder, width] = useWidth<HTMLDivElement>();
  useEffect(() => {
    const target = holder.current;
    if (!target || width === 0) return;
    const drawing = plot({
      height,
      marginTop: 32, // the axis' title, and below it the topmost tick
      ...draw(width),
      width,
      style: { background: 'none', fontFamily: 'inherit', fontSize: '12px', overflow: 'visible' },
    });
    // One image with one name; the names that Plot gives its groups are no readers' business.
    for (const group of drawing.querySelectorAll('g[aria-label]')) {
      group.setAttribute('data-mark', group.getAttribute('aria-label') ?? '');
      group.removeAttribute('aria-label');
    }
    drawing.setAttribute('role', 'img');
    drawing.setAttribute('aria-label', label);
    target.replaceChildren(drawing);
  }, [...of, width, height]);
  return <div ref={holder} class="plot" style={{ minHeight: `${height}px` }} />;
}

/** Keeps the largest height its content has had, so that nothing below moves while a slider is dragged. */
export function Steady({ children, reset }: { children: ComponentChildren; reset?: string }): JSX.Element {
  const outer = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const [frame, content] = [outer.current, inner.current];
    if (!frame || !content) return undefined;
    let tallest = 0;
    let width = 0;
    const observer = new ResizeObserver(() => {
      if (frame.clientWidth !== width) tallest = 0; // another width, another layout
      width = frame.clientWidth;
      tallest = Math.max(tallest, content.offsetHeight);
      frame.style.minHeight = `${tallest}px`;
    });
    observer.observe(content);
    return () => observer.disconnect();
  }, [reset]);
  return (
    <div ref={outer}>
      <div ref={inner}>{children}</div>
    </div>
  );
}
