// SPDX-License-Identifier: Apache-2.0
// A profiler's trace as rows of spans, and what is lost, a step.
import { seconds } from './format';
import type { ProfileAnswer, ProfilePiece, Span } from './types';

interface PieceSpan extends Span {
  label: string;
}

const mostRows = 6;

/** A row for each kind of work, the largest first, one for what is left, and one for idling. */
export function rowsOf({ kinds, pieces = [] }: Pick<ProfileAnswer, 'kinds' | 'pieces'>): {
  names: string[];
  spans: PieceSpan[];
} {
  const own = kinds.slice(0, kinds.length > mostRows ? mostRows - 1 : mostRows).map(({ kind }) => kind);
  const names = [...own, ...(own.length < kinds.length ? ['other work'] : []), 'idle'];
  const rowOf = ({ kind }: ProfilePiece): number => {
    const at = names.indexOf(kind);
    return at < 0 ? names.length - 2 : at;
  };
  const spans = pieces.map((piece) => ({
    stage: rowOf(piece),
    kind: piece.kind === 'idle' ? 'bubble' : piece.kind,
    microbatch: -1,
    chunk: 0,
    start: piece.start_seconds,
    duration: piece.seconds,
    label: piece.label,
  }));
  return { names, spans };
}

const waits: Record<string, string> = {
  host: 'waits for the host',
  synchronisation: 'the host had waited for the device',
  copy: 'copies from or to the host',
  dependency: 'waits for other work',
  launch: 'from one kernel to the next',
  profiler: 'the profiler itself',
};

export const sayPiece = (span: PieceSpan): string =>
  `${span.kind === 'bubble' ? `idle: ${waits[span.label] ?? span.label}` : `${span.kind}: ${span.label}`}, ${seconds(span.duration)} from ${seconds(span.start, 4)}`;

/** Steps that losses are shared among: a trace of several says them a step. */
export const stepsOf = ({ steps }: Pick<ProfileAnswer, 'steps'>): number => Math.max(1, steps.length);
