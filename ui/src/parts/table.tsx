// SPDX-License-Identifier: Apache-2.0
// A table: columns said once, each with its head and what it says of a row. It scrolls sideways where it is too wide.
import type { ComponentChildren, JSX } from 'preact';
import { Word } from './figure';

interface Attributes {
  class?: string;
  title?: string;
  style?: Record<string, string | number>;
  onClick?: () => void;
  onMouseEnter?: () => void;
  onMouseLeave?: () => void;
}

export interface Column<T> {
  label: ComponentChildren;
  of: (item: T, index: number) => ComponentChildren;
  /** What the row is called; `text` is left-aligned; the rest are numbers. */
  kind?: 'name' | 'text' | 'number';
  /** Left out where the page is narrow. */
  wide?: boolean;
  /** A head for those who hear the page. */
  silent?: boolean;
  /** Added to the classes of every cell. */
  class?: string;
  sorted?: 'ascending' | 'descending' | 'none';
  /** More of one cell: its colour, its title. */
  cell?: (item: T) => Attributes;
}

interface TableProps<T> {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  class?: string;
  /** Of a row: its class, what the pointer does on it. */
  row?: (item: T) => Attributes;
}

const classes = (...names: (string | undefined | false)[]): string | undefined =>
  names.filter((name) => name).join(' ') || undefined;

function Cell<T>({ column, item, index }: { column: Column<T>; item: T; index: number }): JSX.Element {
  const numeric = (column.kind ?? 'number') === 'number';
  const { class: own, ...more } = column.cell?.(item) ?? {};
  const all = { ...more, class: classes(numeric && 'n', column.wide && 'wide', column.class, own) };
  const content = column.of(item, index);
  return column.kind === 'name' ? (
    <th scope="row" {...all}>
      {content}
    </th>
  ) : (
    <td {...all}>{content}</td>
  );
}

export function Table<T>({ label, columns, rows, class: className, row }: TableProps<T>): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class={classes('plain', className)}>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th
                key={index}
                scope="col"
                class={classes((column.kind ?? 'number') === 'number' && 'n', column.wide && 'wide')}
                aria-sort={column.sorted}
              >
                {column.silent ? (
                  <span class="hidden">{column.label}</span>
                ) : typeof column.label === 'string' ? (
                  <Word of={column.label} />
                ) : (
                  column.label
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((item, index) => (
            <tr key={index} {...row?.(item)}>
              {columns.map((column, at) => (
                <Cell key={at} column={column} item={item} index={index} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
