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
  return [names.map(cell).join(','), ...rows.map((row) => names.map((name) => cell(row[name])).join(','))].join('\r\n') + '\r\n';
}

/** The figure as it stands, colours resolved, on the page's paper: readable by any program. */
export function toSvg(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const style = getComputedStyle(svg);
  const box = svg.getBoundingClientRect();
  const width = Math.round(box.width);
  const height = Math.round(box.height);
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  if (!copy.hasAttribute('viewBox')) copy.setAttribute('viewBox', `0 0 ${width} ${height}`);
  copy.setAttribute('color', style.color);
  copy.setAttribute('font-family', style.fontFamily);
  copy.setAttribute('font-size', style.fontSize);
  copy.style.background = getComputedStyle(document.body).backgroundColor;
  return new XMLSerializer().serializeToString(copy).replace(/var\((--[\w-]+)\)/g, (_, name: string) => style.getPropertyValue(name).trim());
}
