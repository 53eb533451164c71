// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them: three or four digits and a unit.

const thin = '\u202f'; // narrow no-break space between number and unit
const minus = '\u2212';

/** `digits` significant digits, never an exponent, a real minus sign. */
export function digits(value: number, significant = 3): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const rounded = Number(Math.abs(value).toPrecision(significant)); // 0.9996 is 1.00, not 1.000
  const magnitude = Math.floor(Math.log10(rounded));
  const decimals = Math.max(0, Math.min(12, significant - 1 - magnitude));
  const text = Math.abs(value).toFixed(decimals);
  return (value < 0 ? minus : '') + text;
}

/** 12345678 → 12 345 678, as printed tables do. */
export const grouped = (value: number): string =>
  Math.round(value)
    .toString()
    .replace('-', minus)
    .replace(/\B(?=(\d{3})+(?!\d))/g, thin);

function scaled(value: number, steps: [number, string][], significant: number): string {
  const size = Math.abs(value);
  const step = steps.find(([scale]) => size >= scale * 0.9995) ?? steps[steps.length - 1];
  if (!step) return digits(value, significant);
  return digits(value / step[0], significant) + thin + step[1];
}

const decimal = (unit: string): [number, string][] => [
  [1e18, `E${unit}`],
  [1e15, `P${unit}`],
  [1e12, `T${unit}`],
  [1e9, `G${unit}`],
  [1e6, `M${unit}`],
  [1e3, `k${unit}`],
  [1, unit],
];

export const seconds = (value: number, significant = 3): string =>
  value >= 2 * 86400
    ? digits(value / 86400, significant) + thin + 'days'
    : scaled(
        value,
        [
          [3600, 'h'],
          [1, 's'],
          [1e-3, 'ms'],
          [1e-6, 'µs'],
          [1e-9, 'ns'],
        ],
        significant,
      );

/** Memory is sold and filled in binary units. */
export const bytes = (value: number, significant = 3): string =>
  scaled(
    value,
    [
      [2 ** 40, 'TiB'],
      [2 ** 30, 'GiB'],
      [2 ** 20, 'MiB'],
      [2 ** 10, 'KiB'],
      [1, 'B'],
    ],
    significant,
  );

export const traffic = (value: number): string => scaled(value, decimal('B'), 3);
export const flops = (value: number): string => scaled(value, decimal('FLOP'), 3);
export const flopRate = (value: number): string => scaled(value, decimal('FLOP/s'), 3);
export const byteRate = (value: number): string => scaled(value, decimal('B/s'), 3);
export const watts = (value: number): string =>
  scaled(
    value,
    [
      [1e3, 'kW'],
      [1, 'W'],
    ],
    3,
  );
export const joules = (value: number): string =>
  scaled(
    value,
    [
      [1e6, 'MJ'],
      [1e3, 'kJ'],
      [1, 'J'],
      [1e-3, 'mJ'],
      [1e-6, 'µJ'],
    ],
    3,
  );
export const hertz = (value: number): string =>
  scaled(
    value,
    [
      [1e9, 'GHz'],
      [1e6, 'MHz'],
    ],
    3,
  );
export const area = (value: number): string => digits(value * 1e6, 3) + thin + 'mm²';
export const dollars = (value: number): string => `$${thin}${grouped(value)}`;
export function percent(share: number, decimals = 1): string {
  const text = Math.abs(share * 100).toFixed(decimals);
  return (share < 0 && Number(text) !== 0 ? minus : '') + text + thin + '%'; // what rounds to nothing has no sign
}

export function signedPercent(share: number, decimals = 1): string {
  const text = percent(share, decimals);
  return share > 0 && Number.parseFloat(text) !== 0 ? `+${text}` : text;
}
export const count = (value: number): string => grouped(value);
/** 1 → 1 GPU, 512 → 512 GPUs. */
export const devices = (value: number): string => `${grouped(value)} ${value === 1 ? 'GPU' : 'GPUs'}`;
export const times = (ratio: number): string => digits(ratio, 3) + thin + '×';

/** 175e9 → 175 B, as model sizes and runs are written; few are counted. */
export const parameters = (value: number): string =>
  value < 1000
    ? grouped(value)
    : scaled(
        value,
        [
          [1e12, 'T'],
          [1e9, 'B'],
          [1e6, 'M'],
          [1e3, 'K'],
        ],
        3,
      );

/** 235776 → 236 k, where the digits behind say nothing. */
export const thousands = (value: number): string => (value < 1e4 ? grouped(value) : scaled(value, decimal(''), 3));

/** Tokens a second and the like: 12 345, or 3.21 where there are few. */
export const rates = (value: number): string => (value < 10 ? digits(value) : grouped(value));

/** Tokens: 2048 stays 2048, 131072 is 128 Ki. */
export const tokens = (value: number): string =>
  value >= 16384 && value % 1024 === 0 ? `${value / 1024}${thin}Ki` : grouped(value);

/** What people type for a whole number above zero: 1024, 1,024, 1 024, 1k, 1Ki; null for anything else. A k is 1024: so
 * sequences, batches and clusters are counted. */
export function wholeNumber(text: string): number | null {
  const plain = text.trim().replace(/[\s\u202f_]/g, '');
  const [, digitsTyped, unit] = /^(\d+(?:\.\d+)?|\d{1,3}(?:,\d{3})+)([kKmM]?)i?$/.exec(plain) ?? [];
  if (digitsTyped === undefined) return null;
  const size = unit === '' ? 1 : unit?.toLowerCase() === 'k' ? 1024 : 1024 ** 2;
  const value = Number(digitsTyped.replace(/,/g, '')) * size;
  return Number.isInteger(value) && value > 0 ? value : null;
}

/** What people type for a number of any size above zero: 2, 0.5, 1,024. */
export function anyNumber(text: string): number | null {
  const plain = text.trim().replace(/[\s\u202f_]|,(?=\d{3}\b)/g, '');
  const value = /^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : Number.NaN;
  return value > 0 && Number.isFinite(value) ? value : null;
}

const scales: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

/** A rate, a size or a power as the program reads it, in bytes, FLOP or watts: 8 TB/s, 400 Gb/s, 80 GiB; NaN for what
 * is none. */
export function quantityOf(text: string): number {
  const [, number, prefix = '', unit] =
    /^['"]?(\d+\.?\d*(?:[eE][+-]?\d+)?)\s*(?:([KMGTP]i|[kKMGTPE])?(B|b|FLOP|OP|W)(?:\/s)?)?['"]?$/.exec(text) ?? [];
  return Number(number) * (scales[prefix] ?? 1) * (unit === 'b' ? 1 / 8 : 1);
}

/** A share as people type it: 0.8, 80, 80 %. */
export function shareOf(text: string): number | null {
  const value = anyNumber(text.replace('%', ''));
  const share = value !== null && (value > 1 || text.includes('%')) ? value / 100 : value;
  return share !== null && share <= 1 ? share : null;
}

export interface Measurement {
  value: number;
  metric: 'time' | 'rate' | 'rateOfOne' | 'share' | 'flops';
}

const timeUnits: Record<string, number> = { s: 1, sec: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, min: 60, h: 3600 };
const flopUnits: Record<string, number> = { g: 1e9, t: 1e12, p: 1e15 };

/** What people read off their logs: '9.1 s', '910 ms/it', '230k tokens/s', '494 tok/s/GPU', '53 %', '410 TFLOP/s'; a bare
 * number is of seconds. */
export function readMeasurement(text: string): Measurement | null {
  const [, typed = '', kilo, rest = ''] =
    /^([\d.,_\s]*\d(?:e[+-]?\d+)?)\s*(k(?=\s*t))?\s*(\D.*)?$/i.exec(text.trim()) ?? [];
  const number = anyNumber(typed);
  if (number === null) return null;
  const value = number * (kilo ? 1000 : 1);
  const unit = rest.toLowerCase().replace(/\s+(a|per)\s+/g, '/');
  const [time, ticks = 's'] =
    /^(s|sec|ms|us|µs|min|h)(?:onds?|utes?)?(?:\/(?:it|iter|iteration|step|token))?$/.exec(unit) ?? [];
  if (unit === '' || time) return { value: value * (timeUnits[ticks] ?? 1), metric: 'time' };
  const [rate, one] = /^tok(?:ens?)?\/s(?:ec)?(\/gpu)?$/.exec(unit) ?? [];
  if (rate) return { value, metric: one ? 'rateOfOne' : 'rate' };
  if (/^%( mfu)?$/.test(unit)) return { value: value / 100, metric: 'share' };
  const [, size] = /^([gtp])flops?(?:\/s)?(?:\/gpu)?$/.exec(unit) ?? [];
  return size ? { value: value * (flopUnits[size] ?? 1), metric: 'flops' } : null;
}

/** A limit in milliseconds: 250, 250 ms, 1.5 s; `any` or 0 for none. */
export function milliseconds(text: string): number | null {
  const plain = text.trim().toLowerCase();
  if (plain === 'any' || plain === '0') return 0;
  const [, size = '', unit] = /^(.*?)\s*(ms|s)?$/.exec(plain) ?? [];
  const value = anyNumber(size);
  return value === null ? null : unit === 's' ? value * 1e3 : value;
}

/** The unit that suits times around this one, for an axis. */
export function timeUnit(value: number): { size: number; unit: string } {
  if (value >= 1) return { size: 1, unit: 's' };
  return value >= 1e-3 ? { size: 1e-3, unit: 'ms' } : { size: 1e-6, unit: 'µs' };
}
