// SPDX-License-Identifier: Apache-2.0
// Memory against capacity; what does not fit is red.
import type { JSX } from 'preact';
import { bytes, percent, seconds } from '../format';
import { shelves } from '../tier';
import type { InferAnswer, Memory } from '../types';
import { fill } from '../words';
import type { Tone } from '../words';
import { Drawing, Figure } from './figure';

interface Piece {
  label: string;
  size: number;
  meaning: string;
  tone: Tone;
  /** Where it starts when the pieces are laid end to end. */
  from: number;
}

function piecesOf(memory: Memory): Piece[] {
  const all: [string, number | undefined, string, Tone][] = [
    ['weights', memory.weights_bytes, 'parameters, as the multiplies read them', 'work'],
    ['gradients', memory.gradients_bytes, 'of the parameters', 'work-2'],
    ['optimizer', memory.optimizer_bytes, 'master weights and moments', 'link'],
    ['cache', memory.kv_cache_bytes, 'keys and values of all requests at their longest', 'work-2'],
    ['activations', memory.activation_bytes, 'kept for the backward pass, or of one pass', 'rest'],
    ['other', memory.other_bytes, 'driver, libraries, buffers, fragmentation', 'rest-2'],
  ];
  let from = 0;
  return all
    .filter((piece): piece is [string, number, string, Tone] => piece[1] !== undefined)
    .map(([label, size, meaning, tone]) => {
      const piece = { label, size, meaning, tone, from };
      from += size;
      return piece;
    });
}

interface BarProps {
  pieces: Piece[];
  memory: Memory;
  called?: string;
}

const Bar = ({ called = 'memory', ...of }: BarProps): JSX.Element => (
  <Drawing height={62} label={`${called}: ${bytes(of.memory.total_bytes)} of ${bytes(of.memory.capacity_bytes)}`}>
    {(width) => <Drawn {...of} width={width} />}
  </Drawing>
);

function Drawn({ pieces, memory, width }: BarProps & { width: number }): JSX.Element {
  const whole = Math.max(memory.total_bytes, memory.capacity_bytes);
  // Room on the right for the mark of the capacity.
  const x = (size: number): number => (size / whole) * (width - 2);
  const limit = x(memory.capacity_bytes);
  const label = `${bytes(memory.capacity_bytes)} there`;
  const labelLeft = limit > label.length * 6.2 + 8;
  return (
    <>
      <rect x={0} y={18} width={limit} height={34} fill="var(--well)" />
      {pieces.map((piece) => {
        const [from, to] = [x(piece.from), x(piece.from + piece.size)];
        const kept = Math.min(to, limit);
        return (
          <g key={piece.label}>
            <title>{`${piece.label}: ${bytes(piece.size)}`}</title>
            {kept > from && (
              <rect x={from} y={18} width={Math.max(1, kept - from - 1)} height={34} fill={fill(piece.tone)} />
            )}
            {to > limit && (
              <rect
                class="over"
                x={Math.max(from, limit)}
                y={18}
                width={Math.max(0, to - Math.max(from, limit) - 1)}
                height={34}
                fill="var(--red)"
              />
            )}
            {to - from > piece.label.length * 6.6 + 14 && (
              <text
                x={from + 7}
                y={35}
                dy="0.35em"
                fill={to > limit && from >= limit - 40 ? 'var(--on-red)' : `var(--on-${piece.tone})`}
                font-size={13}
              >
                {piece.label}
              </text>
            )}
          </g>
        );
      })}
      <path d={`M${limit} 10V60`} stroke="currentColor" stroke-width={1.5} />
      <text
        x={labelLeft ? limit - 6 : limit + 6}
        y={9}
        text-anchor={labelLeft ? 'end' : 'start'}
        fill="currentColor"
        font-size={12.5}
      >
        {label}
      </text>
    </>
  );
}

/** What is too much: for a device, or for its share of the host that holds states. */
export function excess(memory: Memory): string {
  const over = memory.total_bytes - memory.capacity_bytes;
  if (over > 0) return `${bytes(over)} too much, ${bytes(memory.total_bytes)} of ${bytes(memory.capacity_bytes)}`;
  const [held, share] = [memory.host_bytes ?? 0, memory.host_capacity_bytes ?? 0];
  return `${bytes(held - share)} too much for the memory of a host, ${bytes(held)} of a device's share of ${bytes(share)}`;
}

export function MemoryFigure({ memory }: { memory: Memory }): JSX.Element {
  const pieces = piecesOf(memory);
  return (
    <Figure
      name="memory"
      title={`Memory of ${memory.stage === undefined ? 'a device' : `stage ${memory.stage}, the fullest`}`}
      rows={() => [
        ...pieces.map(({ label, size }) => ({ part: label, bytes: size })),
        { part: 'total', bytes: memory.total_bytes },
        { part: 'capacity', bytes: memory.capacity_bytes },
      ]}
      note={
        !memory.fits ? (
          <strong class="red">Does not fit: {excess(memory)}.</strong>
        ) : (
          <>
            {bytes(memory.total_bytes)} of {bytes(memory.capacity_bytes)},{' '}
            {percent(memory.total_bytes / memory.capacity_bytes, 0)}
            {memory.max_batch !== undefined ? `; up to ${memory.max_batch} requests at a time fit` : ''}.
          </>
        )
      }
    >
      <Bar pieces={pieces} memory={memory} />
      <table class="tree">
        <tbody>
          {pieces.map((piece) => {
            const spills = piece.from + piece.size > memory.capacity_bytes && piece.size > 0;
            return (
              <tr key={piece.label} class={spills ? 'red' : ''}>
                <th scope="row">
                  <svg class="swatch" width="10" height="10">
                    <rect width="10" height="10" fill={spills ? 'var(--red)' : `var(--${piece.tone})`} />
                  </svg>
                  {piece.label}
                </th>
                <td class="n">{bytes(piece.size)}</td>
                <td class="n">{percent(piece.size / memory.capacity_bytes)}</td>
                <td class="meaning">{piece.meaning}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Figure>
  );
}

/** Of a device with two memories, what lies in which, and how long each is read in a step. */
export function TwoMemories({ answer }: { answer: InferAnswer }): JSX.Element | null {
  const two = shelves(answer.memory);
  return two && <Shelves answer={answer} two={two} />;
}

function Shelves({ answer, two }: { answer: InferAnswer; two: Record<'first' | 'second', Memory> }): JSX.Element {
  const all = [
    { name: 'Device memory', memory: two.first, read: answer.decode.first_memory_seconds ?? 0 },
    { name: 'Second memory', memory: two.second, read: answer.decode.second_memory_seconds ?? 0 },
  ];
  const slower = all.reduce((a, b) => (b.read > a.read ? b : a));
  return (
    <Figure
      name="memories"
      title="What lies in which memory"
      note={
        <>
          Both are read side by side. A step of decoding takes {seconds(answer.decode.seconds)}, of which the{' '}
          {slower.name.toLowerCase()} is read for {seconds(slower.read)}.
        </>
      }
      rows={() =>
        all.map(({ name, memory, read }) => ({
          memory: name,
          weights_bytes: memory.weights_bytes,
          kv_cache_bytes: memory.kv_cache_bytes ?? 0,
          total_bytes: memory.total_bytes,
          capacity_bytes: memory.capacity_bytes,
          decode_step_seconds: read,
        }))
      }
    >
      {all.map(({ name, memory, read }) => (
        <section key={name} class="shelf" data-shelf={name}>
          <p class="note">
            <b>{name}</b>: {bytes(memory.weights_bytes)} of weights, {bytes(memory.kv_cache_bytes ?? 0)} of cache; read
            for {seconds(read)} a step
          </p>
          <Bar pieces={piecesOf(memory).filter(({ size }) => size > 0)} memory={memory} called={name} />
        </section>
      ))}
    </Figure>
  );
}
