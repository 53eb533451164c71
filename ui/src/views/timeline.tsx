// SPDX-License-Identifier: Apache-2.0
// Timeline: the pipeline schedule, stages as rows; zoom and pan; a file for ui.perfetto.dev.
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { post } from '../api';
import { grouped, percent, seconds } from '../format';
import { useLive } from '../live';
import { Hatch } from '../parts/breakdown';
import { save } from '../parts/download';
import { Problems } from '../parts/fields';
import { Figure, useWidth } from '../parts/figure';
import { Scenario, switchKind } from '../parts/scenario';
import { change, kind, params, requestOf } from '../state';
import type { Fields, Span, Timeline as Schedule, TrainAnswer } from '../types';
import { strategyLine } from '../words';
import { Headline, Placeholder, Refused, split } from './predict';

const left = 64; // px, for the names of the rows
const top = 26; // px, for the axis
const rowGap = 5;

interface Kind {
  tone: string;
  /** Transfers are thin: they run beside the kernels. */
  thin: boolean;
}

function kindOf(name: string): Kind {
  if (name.startsWith('send')) return { tone: 'var(--link)', thin: true };
  if (name === 'forward') return { tone: 'var(--work-2)', thin: false };
  if (name.startsWith('backward') || name === 'weight gradients') return { tone: 'var(--work)', thin: false };
  if (name === 'recompute') return { tone: 'var(--rest-2)', thin: false };
  if (name === 'bubble' || name === 'wait') return { tone: 'url(#hatch)', thin: false };
  return { tone: 'var(--rest)', thin: false };
}

/** What part of the schedule the frame shows, in seconds. */
interface Frame {
  from: number;
  to: number;
}

const clamp = (frame: Frame, whole: number): Frame => {
  const length = Math.min(whole, Math.max(whole / 5000, frame.to - frame.from));
  const from = Math.min(Math.max(0, frame.from), whole - length);
  return { from, to: from + length };
};

const zoomed = (frame: Frame, factor: number, at: number, whole: number): Frame =>
  clamp({ from: at - (at - frame.from) * factor, to: at + (frame.to - at) * factor }, whole);

interface Shape {
  kind: string;
  /** Chunks of a stage alternate in tone. */
  odd: boolean;
  path: string;
}

/** One path for each kind: twenty thousand rectangles in a dozen elements, moved by a transform alone. */
function shapesOf(spans: Span[], row: number): Shape[] {
  const shapes = new Map<string, { kind: string; odd: boolean; boxes: string[] }>();
  for (const span of spans) {
    const { thin } = kindOf(span.kind);
    const y = span.stage * (row + rowGap) + (thin ? row - 3 : 0);
    const odd = span.chunk % 2 === 1;
    const key = `${span.kind}${odd ? ' odd' : ''}`;
    let shape = shapes.get(key);
    if (!shape) shapes.set(key, (shape = { kind: span.kind, odd, boxes: [] }));
    shape.boxes.push(`M${span.start} ${y}h${span.duration}v${thin ? 3 : row - 4}h${-span.duration}z`);
  }
  return [...shapes.values()].map(({ kind, odd, boxes }) => ({ kind, odd, path: boxes.join('') }));
}

function ticksOf(frame: Frame, width: number): number[] {
  const rough = ((frame.to - frame.from) / width) * 110;
  const base = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * base).find((size) => size >= rough) ?? base;
  const list: number[] = [];
  for (let t = Math.ceil(frame.from / step) * step; t <= frame.to; t += step) list.push(t);
  return list;
}

/** In the unit that suits the frame, without digits that say nothing. */
function tickText(time: number, length: number): string {
  const [size, unit] = length >= 1 ? [1, 's'] : length >= 1e-3 ? [1e-3, 'ms'] : [1e-6, 'µs'];
  return time === 0 ? '0' : `${Number((time / size).toFixed(6))}\u202f${unit}`;
}

const describe = (span: Span): string =>
  `stage ${span.stage}: ${span.kind}${span.microbatch >= 0 && span.kind !== 'bubble' ? ` of microbatch ${span.microbatch}${span.chunk > 0 ? `, chunk ${span.chunk}` : ''}` : ''}, ${seconds(span.duration)} from ${seconds(span.start, 4)}`;

const labelLimit = 400; // microbatch numbers drawn at once
const wheelStep = 1.0015;

function Gantt({ spans, stages, whole }: { spans: Span[]; stages: number; whole: number }): JSX.Element {
  const [holder, width] = useWidth<HTMLDivElement>();
  const frameOf = (): Frame => {
    const [from, to] = (params.value['frame'] ?? '').split(',').map(Number);
    return from !== undefined && to !== undefined && to > from
      ? clamp({ from: from * whole, to: to * whole }, whole)
      : { from: 0, to: whole };
  };
  const frame = frameOf();
  const show = (next: Frame): void => {
    const all = next.to - next.from >= whole * 0.9999;
    change({ frame: all ? undefined : `${(next.from / whole).toFixed(5)},${(next.to / whole).toFixed(5)}` });
  };
  const [hovered, setHovered] = useState<Span | null>(null);
  const drag = useRef<{ x: number; frame: Frame } | null>(null);
  const svg = useRef<SVGSVGElement>(null);

  const row = Math.max(14, Math.min(34, Math.floor(440 / stages)));
  const inner = Math.max(1, width - left - 8);
  const height = top + stages * (row + rowGap) + 4;
  const scale = inner / (frame.to - frame.from);
  const x = (time: number): number => left + (time - frame.from) * scale;
  const shapes = useMemo(() => shapesOf(spans, row), [spans, row]);
  // The light line between neighbours must not eat those that are hardly wider than it.
  const seam = Math.min(0.8, ((whole * scale) / Math.max(1, spans.length / stages)) * 0.08);
  const sorted = useMemo(() => {
    const rows: Span[][] = Array.from({ length: stages }, () => []);
    for (const span of spans) if (!kindOf(span.kind).thin) rows[span.stage]?.push(span);
    for (const list of rows) list.sort((a, b) => a.start - b.start);
    return rows;
  }, [spans, stages]);
  const labels = useMemo(() => {
    const wide = spans.filter(
      (span) =>
        span.microbatch >= 0 &&
        span.kind !== 'bubble' &&
        !kindOf(span.kind).thin &&
        span.duration * scale > 16 &&
        span.start + span.duration > frame.from &&
        span.start < frame.to,
    );
    return wide.length <= labelLimit ? wide : [];
  }, [spans, scale, frame.from, frame.to]);

  const timeAt = (clientX: number): number =>
    frame.from + (clientX - (svg.current?.getBoundingClientRect().left ?? 0) - left) / scale;
  const spanAt = (clientX: number, clientY: number): Span | null => {
    const stage = Math.floor((clientY - (svg.current?.getBoundingClientRect().top ?? 0) - top) / (row + rowGap));
    const time = timeAt(clientX);
    return sorted[stage]?.find((span) => span.start <= time && time < span.start + span.duration) ?? null;
  };
  const keys = (event: KeyboardEvent): void => {
    const length = frame.to - frame.from;
    const middle = (frame.from + frame.to) / 2;
    if (event.key === 'ArrowLeft')
      show(clamp({ from: frame.from - length * 0.15, to: frame.to - length * 0.15 }, whole));
    else if (event.key === 'ArrowRight')
      show(clamp({ from: frame.from + length * 0.15, to: frame.to + length * 0.15 }, whole));
    else if (event.key === '+' || event.key === '=') show(zoomed(frame, 1 / 1.5, middle, whole));
    else if (event.key === '-') show(zoomed(frame, 1.5, middle, whole));
    else if (event.key === '0' || event.key === 'Home') show({ from: 0, to: whole });
    else return;
    event.preventDefault();
  };
  // The wheel must be able to stop the page from scrolling, which the framework's passive listeners cannot.
  const wheel = useRef<(event: WheelEvent) => void>(() => undefined);
  wheel.current = (event) => {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!event.ctrlKey && !event.shiftKey && !sideways) return; // a plain wheel scrolls the page
    event.preventDefault();
    if (event.ctrlKey) show(zoomed(frame, wheelStep ** (event.deltaY * 4), timeAt(event.clientX), whole));
    else {
      const by = (sideways ? event.deltaX : event.deltaY) / scale;
      show(clamp({ from: frame.from + by, to: frame.to + by }, whole));
    }
  };
  useEffect(() => {
    const target = holder.current;
    const listen = (event: WheelEvent): void => wheel.current(event);
    target?.addEventListener('wheel', listen, { passive: false });
    return () => target?.removeEventListener('wheel', listen);
  }, []);

  const middle = (frame.from + frame.to) / 2;
  return (
    <>
      <div class="toolbar" role="group" aria-label="Zoom">
        <button type="button" onClick={() => show(zoomed(frame, 1 / 1.6, middle, whole))} aria-label="Zoom in">
          +
        </button>
        <button type="button" onClick={() => show(zoomed(frame, 1.6, middle, whole))} aria-label="Zoom out">
          −
        </button>
        <button type="button" onClick={() => show({ from: 0, to: whole })}>
          Whole step
        </button>
        <button type="button" onClick={() => show(clamp({ from: 0, to: whole * 0.12 }, whole))}>
          Start
        </button>
        <button type="button" onClick={() => show(clamp({ from: whole * 0.88, to: whole }, whole))}>
          End
        </button>
        <span class="hint">drag to move; Ctrl and wheel, or + and −, to zoom</span>
      </div>
      <div ref={holder} style={{ minHeight: `${height}px` }}>
        {width > 0 && (
          <svg
            ref={svg}
            class="drawing gantt"
            width={width}
            height={height}
            viewBox={`0 0 ${width} ${height}`}
            tabindex={0}
            role="application"
            aria-label="Pipeline schedule; arrows move, plus and minus zoom"
            data-from={frame.from}
            data-to={frame.to}
            onKeyDown={keys}
            onPointerDown={(event) => {
              drag.current = { x: event.clientX, frame };
              event.currentTarget.setPointerCapture(event.pointerId);
            }}
            onPointerMove={(event) => {
              if (!drag.current) {
                setHovered(spanAt(event.clientX, event.clientY));
                return;
              }
              const by = (drag.current.x - event.clientX) / scale;
              show(clamp({ from: drag.current.frame.from + by, to: drag.current.frame.to + by }, whole));
            }}
            onPointerUp={() => {
              drag.current = null;
            }}
            onPointerLeave={() => setHovered(null)}
          >
            <Hatch />
            <clipPath id="inside">
              <rect x={left} y={0} width={inner} height={height} />
            </clipPath>
            <g font-size={12} fill="currentColor">
              {ticksOf(frame, inner).map((tick) => (
                <g key={tick}>
                  <path d={`M${x(tick)} ${top - 6}V${height}`} stroke="var(--rule)" />
                  <text x={x(tick)} y={12} text-anchor="middle">
                    {tickText(tick, frame.to - frame.from)}
                  </text>
                </g>
              ))}
              {Array.from({ length: stages }, (_, stage) => (
                <text key={stage} x={left - 8} y={top + stage * (row + rowGap) + row / 2} dy="0.2em" text-anchor="end">
                  stage {stage}
                </text>
              ))}
            </g>
            <g clip-path="url(#inside)">
              <g transform={`translate(${left - frame.from * scale} ${top}) scale(${scale} 1)`}>
                {shapes
                  .filter(({ kind: name }) => name !== 'bubble')
                  .map(({ kind: name, odd, path }) => (
                    <path
                      key={`${name}${odd}`}
                      d={path}
                      fill={kindOf(name).tone}
                      opacity={odd ? 0.72 : 1}
                      stroke="var(--paper)"
                      stroke-width={seam}
                      vector-effect="non-scaling-stroke"
                    />
                  ))}
              </g>
              {/* Hatching must not be stretched with the time axis: bubbles are drawn at their place. */}
              {spans
                .filter(
                  (span) =>
                    span.kind === 'bubble' &&
                    span.duration * scale > 0.7 &&
                    span.start + span.duration > frame.from &&
                    span.start < frame.to,
                )
                .map((span) => (
                  <rect
                    key={`${span.stage}-${span.start}`}
                    x={x(span.start)}
                    y={top + span.stage * (row + rowGap)}
                    width={span.duration * scale}
                    height={row - 4}
                    fill="url(#hatch)"
                  />
                ))}
              <g font-size={11} text-anchor="middle" pointer-events="none">
                {labels.map((span) => (
                  <text
                    key={`${span.stage}-${span.start}-${span.kind}`}
                    x={x(span.start + span.duration / 2)}
                    y={top + span.stage * (row + rowGap) + (row - 4) / 2}
                    dy="0.35em"
                    fill={span.kind === 'forward' ? 'var(--on-work-2)' : 'var(--on-work)'}
                  >
                    {span.microbatch}
                  </text>
                ))}
              </g>
              {hovered && (
                <rect
                  x={x(hovered.start)}
                  y={top + hovered.stage * (row + rowGap)}
                  width={Math.max(1, hovered.duration * scale)}
                  height={row - 4}
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
        {hovered ? describe(hovered) : `${seconds(frame.to - frame.from, 4)} of ${seconds(whole, 4)} shown`}
      </p>
    </>
  );
}

/** Chrome's trace format, which ui.perfetto.dev reads; times in microseconds. */
function perfetto(spans: Span[], stages: number): string {
  const names = Array.from({ length: stages }, (_, stage) => ({
    ph: 'M',
    pid: 0,
    tid: stage * 2,
    name: 'thread_name',
    args: { name: `stage ${stage}` },
  }));
  const sends = Array.from({ length: stages }, (_, stage) => ({
    ph: 'M',
    pid: 0,
    tid: stage * 2 + 1,
    name: 'thread_name',
    args: { name: `stage ${stage} sends` },
  }));
  const events = spans.map((span) => ({
    ph: 'X',
    pid: 0,
    tid: span.stage * 2 + Number(kindOf(span.kind).thin),
    name: span.kind,
    cat: span.kind,
    ts: span.start * 1e6,
    dur: span.duration * 1e6,
    args: span.microbatch >= 0 ? { microbatch: span.microbatch, chunk: span.chunk } : {},
  }));
  return JSON.stringify({ displayTimeUnit: 'ms', traceEvents: [...names, ...sends, ...events] });
}

/** The tones that occur, with the kinds drawn in each. */
function legendOf(spans: Span[]): { tone: string; kinds: string }[] {
  const kinds = new Map<string, Set<string>>();
  for (const { kind } of spans) {
    const { tone, thin } = kindOf(kind);
    const shown = tone === 'url(#hatch)' ? 'var(--wait-line)' : tone;
    kinds.set(shown, (kinds.get(shown) ?? new Set()).add(thin ? 'transfer' : kind));
  }
  return [...kinds]
    .map(([tone, names]) => ({ tone, kinds: [...names].join(', ') }))
    .sort((a, b) => Number(a.kinds === 'bubble') - Number(b.kinds === 'bubble'));
}

function Result({ answer, schedule, stale }: { answer: TrainAnswer; schedule: Schedule; stale: boolean }): JSX.Element {
  const spans = schedule.spans ?? [];
  const stages = schedule.stages ?? answer.strategy.pp;
  const whole = schedule.seconds ?? answer.step_seconds;
  const idle =
    spans.filter((span) => span.kind === 'bubble').reduce((sum, span) => sum + span.duration, 0) / (whole * stages);
  const microbatches = new Set(spans.filter((span) => span.kind === 'forward').map((span) => span.microbatch)).size;
  return (
    <div class={`result ${stale ? 'stale' : ''}`} data-ready={!stale}>
      <header class="title">
        <h1>One pipeline of {answer.model}</h1>
        <p class="subtitle">
          {strategyLine(answer.strategy)}; on {answer.gpus} × {answer.system}; {answer.runtime}
        </p>
      </header>
      <dl class="headlines">
        <Headline
          main
          label="a step"
          {...split(seconds(answer.step_seconds, 4))}
          detail={`${grouped(answer.batch * answer.seq)} tokens`}
        />
        <Headline label="stands still" {...split(percent(idle))} detail="bubbles, over all stages" />
        <Headline
          label="microbatches"
          value={String(microbatches)}
          detail={`${stages} stages${answer.strategy.interleave > 1 ? ` of ${answer.strategy.interleave} chunks` : ''}`}
        />
      </dl>
      {schedule.too_large ? (
        <p class="note">
          This schedule has more than 20,000 spans; <code>sextant train --trace out.json</code> writes it whole. Fewer
          microbatches or stages fit here.
        </p>
      ) : (
        <Figure
          name="timeline"
          title="Schedule"
          rows={() => spans.map((span) => ({ ...span }))}
          extra={
            <button
              type="button"
              class="quiet"
              onClick={() => save('sextant-trace.json', 'application/json', perfetto(spans, stages))}
            >
              Perfetto
            </button>
          }
          note={
            <>
              {legendOf(spans).map(({ tone, kinds }) => (
                <span key={tone} class="legend">
                  <i class="key" style={{ background: tone }} /> {kinds}
                </span>
              ))}
            </>
          }
        >
          <Gantt spans={spans} stages={stages} whole={whole} />
        </Figure>
      )}
    </div>
  );
}

function TrainingTimeline(): JSX.Element {
  const request = requestOf(params.value);
  const body: Fields | null = request && { ...request, timeline: true, choices: true };
  const live = useLive<TrainAnswer>(body && JSON.stringify(body), (signal) => post('/train', body ?? {}, signal));
  const { answer, problems } = live;
  return (
    <div class="columns">
      <Scenario trainingOnly used={{ strategy: answer?.strategy ?? null, choices: answer?.choices, problems }} />
      <main>
        <Refused problems={answer ? problems : []} />
        {answer?.timeline ? (
          <Result answer={answer} schedule={answer.timeline} stale={problems.length > 0} />
        ) : (
          <Placeholder busy={live.busy && problems.length === 0}>
            <Problems of={problems} />
          </Placeholder>
        )}
      </main>
    </div>
  );
}

export function TimelineView(): JSX.Element {
  if (kind.value === 'train') return <TrainingTimeline />;
  return (
    <main class="whole">
      <p class="note">
        Pipelines are drawn for training.{' '}
        <button type="button" onClick={() => switchKind('train')}>
          Switch to training
        </button>
      </p>
    </main>
  );
}
