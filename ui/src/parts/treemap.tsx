// SPDX-License-Identifier: Apache-2.0
// A square whose parts have the areas of a budget, as on a floor plan.
import type { JSX } from 'preact';
import { Figure, Drawing } from './figure';

export interface Piece {
  label: string;
  value: number;
  tone: string;
  ink: string;
}

interface Box {
  piece: Piece;
  x: number;
  y: number;
  w: number;
  h: number;
}

/** The squarest rows, after Bruls, Huizing and van Wijk, "Squarified treemaps" (2000). */
export function squarify(pieces: Piece[], width: number, height: number): Box[] {
  const left = pieces.filter((piece) => piece.value > 0).sort((a, b) => b.value - a.value);
  const total = left.reduce((sum, piece) => sum + piece.value, 0);
  const boxes: Box[] = [];
  let [x, y, w, h] = [0, 0, width, height];
  const perUnit = (width * height) / total;
  const worst = (row: Piece[], side: number): number => {
    const sum = row.reduce((s, piece) => s + piece.value, 0) * perUnit;
    return Math.max(
      ...row.map((piece) => {
        const size = piece.value * perUnit;
        return Math.max((side * side * size) / (sum * sum), (sum * sum) / (side * side * size));
      }),
    );
  };
  while (left.length > 0) {
    const side = Math.min(w, h);
    const row: Piece[] = [];
    let next = left[0];
    while (next && (row.length === 0 || worst([...row, next], side) <= worst(row, side))) {
      row.push(next);
      left.shift();
      next = left[0];
    }
    const depth = (row.reduce((s, piece) => s + piece.value, 0) * perUnit) / side;
    let along = 0;
    for (const piece of row) {
      const length = (piece.value * perUnit) / depth;
      boxes.push(
        w >= h ? { piece, x, y: y + along, w: depth, h: length } : { piece, x: x + along, y, w: length, h: depth },
      );
      along += length;
    }
    if (w >= h) [x, w] = [x + depth, w - depth];
    else [y, h] = [y + depth, h - depth];
  }
  return boxes;
}

export function TreemapFigure({
  name,
  title,
  note,
  pieces,
  show,
  height = 260,
  unit,
}: {
  name: string;
  title: string;
  note: string;
  pieces: Piece[];
  show: (value: number) => string;
  height?: number;
  unit: string;
}): JSX.Element {
  const total = pieces.reduce((sum, piece) => sum + piece.value, 0);
  return (
    <Figure
      name={name}
      title={title}
      note={note}
      rows={() => pieces.map((piece) => ({ part: piece.label, [unit]: piece.value, share: piece.value / total }))}
    >
      <Drawing height={height} label={pieces.map((piece) => `${piece.label} ${show(piece.value)}`).join(', ')}>
        {(width) =>
          squarify(pieces, width, height).map(({ piece, x, y, w, h }) => (
            <g key={piece.label}>
              <title>{`${piece.label}: ${show(piece.value)}`}</title>
              <rect x={x} y={y} width={Math.max(0, w - 1.5)} height={Math.max(0, h - 1.5)} fill={piece.tone} />
              {w > piece.label.length * 7 + 12 && h > 20 && (
                <text x={x + 8} y={y + 17} fill={piece.ink} font-size={13}>
                  {piece.label}
                </text>
              )}
              {w > 64 && h > 38 && (
                <text x={x + 8} y={y + 33} fill={piece.ink} font-size={12} opacity={0.85}>
                  {show(piece.value)}
                </text>
              )}
            </g>
          ))
        }
      </Drawing>
    </Figure>
  );
}
