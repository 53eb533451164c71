// SPDX-License-Identifier: Apache-2.0
// A pipeline's schedule as shapes: what is drawn how, and which part of it is in sight.
import { seconds, timeUnit } from './format';
import type { Span } from './types';

/** Where things stand, in px. */
export interface Layout {
  /** For the names of the rows, and for the axis. */
  left: number;
  top: number;
  row: number;
  /** Of a bar in its row; the rest of the row is for transfers. */
  bar: number;
  pitch: number;
}

export function layoutOf(stages: number, longest = 8): Layout {
  const row = Math.max(14, Math.min(34, Math.floor(440 / stages)));
  return { left: 16 + longest * 6, top: 26, row, bar: row - 4, pitch: row + 5 };
}

interface Kind {
  tone: string;
  /** Transfers are thin: they run beside the kernels. */
  thin: boolean;
}

export function kindOf(name: string): Kind {
  if (name.startsWith('send')) return { tone: 'var(--link)', thin: true };
  if (name === 'forward') return { tone: 'var(--work-2)', thin: false };
  if (name.startsWith('backward') || name === 'weight gradients') return { tone: 'var(--work)', thin: false };
  if (name === 'recompute') return { tone: 'var(--rest-2)', thin: false };
  // Kinds of a profiler's trace.
  if (/^(grouped )?multiply|^attention/.test(name)) return { tone: 'var(--work)', thin: false };
  if (name === 'communication') return { tone: 'var(--link)', thin: false };
  if (name === 'bubble' || name === 'wait') return { tone: 'url(#hatch)', thin: false };
  return { tone: 'var(--rest)', thin: false };
}

/** What part of the schedule the frame shows, in seconds. */
export interface Frame {
  from: number;
  to: number;
}

export const clamp = (frame: Frame, whole: number): Frame => {
  const length = Math.min(whole, Math.max(whole / 5000, frame.to - frame.from));
  const from = Math.min(Math.max(0, frame.from), whole - length);
  return { from, to: from + length };
};

export const zoomed = (frame: Frame, factor: number, at: number, whole: number): Frame =>
  clamp({ from: at - (at - frame.from) * factor, to: at + (frame.to - at) * factor }, whole);

export const moved = (frame: Frame, by: number, whole: number): Frame =>
  clamp({ from: frame.from + by, to: frame.to + by }, whole);

export const inSight = (span: Span, frame: Frame): boolean =>
  span.start + span.duration > frame.from && span.start < frame.to;

interface Shape {
  kind: string;
  /** Chunks of a stage alternate in tone. */
  odd: boolean;
  path: string;
}

/** Bubbles apart, which are hatched. One path for each kind: twenty thousand rectangles in a dozen elements, moved by a transform alone. */
export function shapesOf(spans: Span[], { row, bar, pitch }: Layout): Shape[] {
  const shapes = new Map<string, { kind: string; odd: boolean; boxes: string[] }>();
  for (const span of spans) {
    if (span.kind === 'bubble') continue;
    const { thin } = kindOf(span.kind);
    const y = span.stage * pitch + (thin ? row - 3 : 0);
    const odd = span.chunk % 2 === 1;
    const key = `${span.kind}${odd ? ' odd' : ''}`;
    let shape = shapes.get(key);
    if (!shape) shapes.set(key, (shape = { kind: span.kind, odd, boxes: [] }));
    shape.boxes.push(`M${span.start} ${y}h${span.duration}v${thin ? 3 : bar}h${-span.duration}z`);
  }
  return [...shapes.values()].map(({ kind, odd, boxes }) => ({ kind, odd, path: boxes.join('') }));
}

export function ticksOf(frame: Frame, width: number): number[] {
  const rough = ((frame.to - frame.from) / width) * 110;
  const base = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * base).find((size) => size >= rough) ?? base;
  const list: number[] = [];
  for (let t = Math.ceil(frame.from / step) * step; t <= frame.to; t += step) list.push(t);
  return list;
}

/** In the unit that suits the frame, without digits that say nothing. */
export function tickText(time: number, length: number): string {
  const { size, unit } = timeUnit(length);
  return time === 0 ? '0' : `${Number((time / size).toFixed(6))}\u202f${unit}`;
}

/** What the pointer rests on, in a pipeline. */
export function describe(span: Span): string {
  const chunk = span.chunk > 0 ? `, chunk ${span.chunk}` : '';
  const of = span.microbatch >= 0 && span.kind !== 'bubble' ? ` of microbatch ${span.microbatch}${chunk}` : '';
  return `stage ${span.stage}: ${span.kind}${of}, ${seconds(span.duration)} from ${seconds(span.start, 4)}`;
}

/** The tones that occur, with the kinds drawn in each. */
export function legendOf(spans: Span[]): { tone: string; kinds: string }[] {
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

/** Chrome's trace format, which ui.perfetto.dev reads; times in microseconds. */
export function perfetto(spans: Span[], stages: number): string {
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
