// SPDX-License-Identifier: Apache-2.0
// Figures and tables as files.

export type Cell = string | number | boolean | null | undefined;
export type Row = Record<string, Cell>;

export function save(name: string, type: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  // The click only queues the download; the address must outlive it.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** RFC 4180; the header is the union of the rows' names, in the order they appear. */
export function toCsv(rows: Row[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cell = (value: Cell): string => {
    const text = value === null || value === undefined ? '' : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return (
    [names.map(cell).join(','), ...rows.map((row) => names.map((name) => cell(row[name])).join(','))].join('\r\n') +
    '\r\n'
  );
}

/** Runs with the light colours: a saved figure goes into documents, which are printed on white. */
function inLight<T>(run: () => T): T {
  const root = document.documentElement;
  const theme = root.dataset['theme'] ?? 'light';
  root.dataset['theme'] = 'light';
  try {
    return run(); // nothing is painted in between
  } finally {
    root.dataset['theme'] = theme;
  }
}

const margin = 6; // px: labels may reach a little beyond the frame

/** The figure with its colours resolved and its paper under it: readable by any program. */
export function toSvg(svg: SVGSVGElement): string {
  return inLight(() => {
    const copy = svg.cloneNode(true) as SVGSVGElement;
    const style = getComputedStyle(svg);
    const box = svg.getBoundingClientRect();
    const [width, height] = [Math.round(box.width) + 2 * margin, Math.round(box.height) + 2 * margin];
    for (const [name, value] of Object.entries({
      xmlns: 'http://www.w3.org/2000/svg',
      width,
      height,
      viewBox: `${-margin} ${-margin} ${width} ${height}`,
      color: style.color,
    }))
      copy.setAttribute(name, String(value));
    copy.removeAttribute('style');
    Object.assign(copy.style, {
      fontFamily: style.fontFamily,
      fontSize: style.fontSize,
      background: getComputedStyle(document.body).backgroundColor,
    });
    return new XMLSerializer()
      .serializeToString(copy)
      .replace(/var\((--[\w-]+)\)/g, (_, name: string) => style.getPropertyValue(name).trim());
  });
}
