// SPDX-License-Identifier: Apache-2.0
// What runs when, in rows: a Gantt chart that can be moved and zoomed by pointer, wheel and keyboard.
import type { JSX, RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { seconds } from '../format';
import { clamp, inSight, kindOf, layoutOf, moved, shapesOf, tickText, ticksOf, zoomed } from '../schedule';
import type { Frame, Layout } from '../schedule';
import { change, params } from '../state';
import type { Span } from '../types';
import { Hatch } from './breakdown';
import { useWidth } from './figure';

/** The schedule, and the part of it that is in sight, on paper. */
interface View {
  spans: Span[];
  names: string[];
  whole: number;
  frame: Frame;
  layout: Layout;
  /** px of the part in sight, and px a second. */
  width: number;
  scale: number;
  height: number;
  x: (time: number) => number;
  y: (stage: number) => number;
}

/** The frame is in the address, as shares of the whole: it outlives a change of the scenario. */
function frameIn(whole: number): Frame {
  const [from, to] = (params.value['frame'] ?? '').split(',').map(Number);
  if (from === undefined || to === undefined || !(to > from)) return { from: 0, to: whole };
  return clamp({ from: from * whole, to: to * whole }, whole);
}

function show(frame: Frame, whole: number): void {
  const all = frame.to - frame.from >= whole * 0.9999;
  change({ frame: all ? undefined : `${(frame.from / whole).toFixed(5)},${(frame.to / whole).toFixed(5)}` });
}

function Toolbar({ frame, whole, wholeName }: { frame: Frame; whole: number; wholeName: string }): JSX.Element {
  const middle = (frame.from + frame.to) / 2;
  const button = (text: string, next: Frame, label?: string): JSX.Element => (
    <button type="button" onClick={() => show(next, whole)} aria-label={label}>
      {text}
    </button>
  );
  return (
    <div class="toolbar" role="group" aria-label="Zoom">
      {button('+', zoomed(frame, 1 / 1.6, middle, whole), 'Zoom in')}
      {button('−', zoomed(frame, 1.6, middle, whole), 'Zoom out')}
      {button(wholeName, { from: 0, to: whole })}
      {button('Start', clamp({ from: 0, to: whole * 0.12 }, whole))}
      {button('End', clamp({ from: whole * 0.88, to: whole }, whole))}
      <span class="hint">drag, or A and D, to move; wheel, or W and S, to zoom</span>
    </div>
  );
}

function Axes({ view }: { view: View }): JSX.Element {
  const { frame, layout, names, width, height, x, y } = view;
  return (
    <g font-size={12} fill="currentColor">
      {ticksOf(frame, width).map((tick) => (
        <g key={tick}>
          <path d={`M${x(tick)} ${layout.top - 6}V${height}`} stroke="var(--rule)" />
          <text x={x(tick)} y={12} text-anchor="middle">
            {tickText(tick, frame.to - frame.from)}
          </text>
        </g>
      ))}
      {names.map((name, row) => (
        <text key={name} x={layout.left - 8} y={y(row) + layout.row / 2} dy="0.2em" text-anchor="end">
          {name}
        </text>
      ))}
    </g>
  );
}

/** What runs: drawn once in seconds, and stretched. */
function Work({ view }: { view: View }): JSX.Element {
  const { spans, names, whole, frame, layout, scale } = view;
  const shapes = useMemo(() => shapesOf(spans, layout), [spans, layout]);
  // The light line between neighbours must not eat those that are hardly wider than it.
  const seam = Math.min(0.8, ((whole * scale) / Math.max(1, spans.length / names.length)) * 0.08);
  return (
    <g transform={`translate(${layout.left - frame.from * scale} ${layout.top}) scale(${scale} 1)`}>
      {shapes.map(({ kind, odd, path }) => (
        <path
          key={`${kind}${odd}`}
          d={path}
          fill={kindOf(kind).tone}
          opacity={odd ? 0.72 : 1}
          stroke="var(--paper)"
          stroke-width={seam}
          vector-effect="non-scaling-stroke"
        />
      ))}
    </g>
  );
}

const visibleBubble = 0.7; // px

/** What waits: drawn at its place, because hatching must not be stretched. */
function Bubbles({ view }: { view: View }): JSX.Element {
  const { spans, frame, layout, scale, x, y } = view;
  const shown = spans.filter(
    (span) => span.kind === 'bubble' && span.duration * scale > visibleBubble && inSight(span, frame),
  );
  return (
    <>
      {shown.map((span) => (
        <rect
          key={`${span.stage}-${span.start}`}
          x={x(span.start)}
          y={y(span.stage)}
          width={span.duration * scale}
          height={layout.bar}
          fill="url(#hatch)"
        />
      ))}
    </>
  );
}

const numberWidth = 16; // px
const mostNumbers = 400;

/** The numbers of microbatches, close up. */
function Numbers({ view }: { view: View }): JSX.Element {
  const { spans, frame, layout, scale, x, y } = view;
  const wide = spans.filter(
    (span) =>
      span.microbatch >= 0 &&
      span.kind !== 'bubble' &&
      span.duration * scale > numberWidth &&
      !kindOf(span.kind).thin &&
      inSight(span, frame),
  );
  return (
    <g font-size={11} text-anchor="middle" pointer-events="none">
      {(wide.length <= mostNumbers ? wide : []).map((span) => (
        <text
          key={`${span.stage}-${span.start}-${span.kind}`}
          x={x(span.start + span.duration / 2)}
          y={y(span.stage) + layout.bar / 2}
          dy="0.35em"
          fill={span.kind === 'forward' ? 'var(--on-work-2)' : 'var(--on-work)'}
        >
          {span.microbatch}
        </text>
      ))}
    </g>
  );
}

const keyStep = 0.15; // of what is in sight
const keyZoom = 1.5;

/** The frame that a key asks for, or null. */
function frameByKey(key: string, frame: Frame, whole: number): Frame | null {
  const length = frame.to - frame.from;
  const middle = (frame.from + frame.to) / 2;
  // W, A, S and D as in Perfetto.
  if (key === 'ArrowLeft' || key === 'a') return moved(frame, -length * keyStep, whole);
  if (key === 'ArrowRight' || key === 'd') return moved(frame, length * keyStep, whole);
  if (key === '+' || key === '=' || key === 'w') return zoomed(frame, 1 / keyZoom, middle, whole);
  if (key === '-' || key === 's') return zoomed(frame, keyZoom, middle, whole);
  return key === '0' || key === 'Home' ? { from: 0, to: whole } : null;
}

const wheelZoom = 1.006; // a unit of the wheel

/** The wheel must be able to keep the page from scrolling, which a passive listener of the framework cannot. */
function useWheel(holder: RefObject<HTMLElement | null>, view: View, timeAt: (clientX: number) => number): void {
  const handle = useRef<(event: WheelEvent) => void>(() => undefined);
  handle.current = (event) => {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    // A plain wheel scrolls the page, until the drawing is what one works with.
    const focused = holder.current?.contains(document.activeElement) ?? false;
    if (!event.ctrlKey && !event.shiftKey && !sideways && !focused) return;
    event.preventDefault();
    const { frame, whole, scale } = view;
    const next =
      event.ctrlKey || (focused && !event.shiftKey && !sideways)
        ? zoomed(frame, wheelZoom ** event.deltaY, timeAt(event.clientX), whole)
        : moved(frame, (sideways ? event.deltaX : event.deltaY) / scale, whole);
    show(next, whole);
  };
  useEffect(() => {
    const target = holder.current;
    const listen = (event: WheelEvent): void => handle.current(event);
    target?.addEventListener('wheel', listen, { passive: false });
    return () => target?.removeEventListener('wheel', listen);
  }, []);
}

interface GanttProps<T extends Span> {
  spans: T[];
  /** Of the rows; a span's stage is its row. */
  names: string[];
  whole: number;
  wholeName: string;
  label: string;
  /** What a span is, for those who point at it. */
  say: (span: T) => string;
}

export function Gantt<T extends Span>({ spans, names, whole, wholeName, label, say }: GanttProps<T>): JSX.Element {
  const [holder, paper] = useWidth<HTMLDivElement>();
  const [hovered, setHovered] = useState<T | null>(null);
  const drag = useRef<{ x: number; frame: Frame } | null>(null);
  const svg = useRef<SVGSVGElement>(null);
  const longest = Math.max(...names.map((name) => name.length));
  const layout = useMemo(() => layoutOf(names.length, longest), [names.length, longest]);
  const frame = frameIn(whole);
  const width = Math.max(1, paper - layout.left - 8);
  const scale = width / (frame.to - frame.from);
  const view: View = {
    spans,
    names,
    whole,
    frame,
    layout,
    width,
    scale,
    height: layout.top + names.length * layout.pitch + 4,
    x: (time) => layout.left + (time - frame.from) * scale,
    y: (stage) => layout.top + stage * layout.pitch,
  };
  const corner = (): { left: number; top: number } => svg.current?.getBoundingClientRect() ?? { left: 0, top: 0 };
  const timeAt = (clientX: number): number => frame.from + (clientX - corner().left - layout.left) / scale;
  const spanAt = (clientX: number, clientY: number): T | null => {
    const stage = Math.floor((clientY - corner().top - layout.top) / layout.pitch);
    const time = timeAt(clientX);
    const here = (span: T): boolean =>
      span.stage === stage && span.start <= time && time < span.start + span.duration && !kindOf(span.kind).thin;
    return spans.find(here) ?? null;
  };
  useWheel(holder, view, timeAt);
  const point = (event: PointerEvent): void => {
    const start = drag.current;
    if (start) show(moved(start.frame, (start.x - event.clientX) / scale, whole), whole);
    else setHovered(spanAt(event.clientX, event.clientY));
  };
  return (
    <>
      <Toolbar frame={frame} whole={whole} wholeName={wholeName} />
      <div ref={holder} style={{ minHeight: `${view.height}px` }}>
        {paper > 0 && (
          <svg
            ref={svg}
            class="drawing gantt"
            width={paper}
            height={view.height}
            viewBox={`0 0 ${paper} ${view.height}`}
            tabindex={0}
            role="application"
            aria-label={`${label}; arrows or A and D move, plus and minus or W and S zoom`}
            data-from={frame.from}
            data-to={frame.to}
            onKeyDown={(event) => {
              const next = frameByKey(event.key, frame, whole);
              if (!next) return;
              event.preventDefault();
              show(next, whole);
            }}
            onPointerDown={(event) => {
              event.currentTarget.focus({ preventScroll: true });
              drag.current = { x: event.clientX, frame };
              event.currentTarget.setPointerCapture(event.pointerId);
            }}
            onPointerMove={point}
            onPointerUp={() => {
              drag.current = null;
            }}
            onPointerLeave={() => setHovered(null)}
          >
            <Hatch />
            <clipPath id="inside">
              <rect x={layout.left} y={0} width={width} height={view.height} />
            </clipPath>
            <Axes view={view} />
            <g clip-path="url(#inside)">
              <Work view={view} />
              <Bubbles view={view} />
              <Numbers view={view} />
              {hovered && (
                <rect
                  x={view.x(hovered.start)}
                  y={view.y(hovered.stage)}
                  width={Math.max(1, hovered.duration * scale)}
                  height={layout.bar}
                  fill="none"
                  stroke="currentColor"
                  stroke-width={1.5}
                  pointer-events="none"
                />
              )}
            </g>
          </svg>
        )}
      </div>
      <p class="note readout" aria-live="polite">
        {hovered ? say(hovered) : `${seconds(frame.to - frame.from, 4)} of ${seconds(whole, 4)} shown`}
      </p>
    </>
  );
}
