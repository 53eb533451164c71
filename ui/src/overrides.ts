// SPDX-License-Identifier: Apache-2.0
// Single fields that are overridden, as the address has them: 'device.memory.bandwidth=8 TB/s; model.layers=40'.
import { questionOf } from './api';
import { byteRate, bytes, flopRate, quantityOf, watts } from './format';
import type { SystemFacts } from './types';

export const overridesIn = (set: string | undefined): string[] =>
  (set ?? '')
    .split(';')
    .map((override) => override.trim())
    .filter((override) => override !== '');

function split(override: string): { path: string; value: string } {
  const [path = '', ...value] = override.split('=');
  return { path: path.trim(), value: value.join('=').trim() };
}

/** Those that hold: of two of one field the later. */
export const lastOfEach = (overrides: string[]): string[] => [
  ...new Map(overrides.map((override) => [split(override).path, override])).values(),
];

/** Without what was changed of a device or a system: on another one that would make other numbers of its own. */
export const withoutHardware = (set: string | undefined): string =>
  overridesIn(set)
    .filter((override) => !/^(device|system)\b/.test(override))
    .join('; ');

/** The system with the numbers that overrides give it; NaN where one cannot be read. */
export function overridden(facts: SystemFacts, overrides: string[]): SystemFacts {
  const system = structuredClone(facts);
  for (const { path, value } of overrides.map(split)) {
    const steps = path.replace(/\[(\d+)\]/g, '.$1').split('.');
    const field = steps.pop() ?? '';
    let holder: unknown = { device: system.device, system };
    for (const step of steps) holder = (holder as Record<string, unknown> | undefined)?.[step];
    const fields = holder as Record<string, unknown> | undefined;
    if (typeof fields?.[field] === 'number') fields[field] = quantityOf(value);
  }
  return system;
}

const written: Readonly<Record<string, (value: number) => string>> = {
  'B/s': byteRate,
  'FLOP/s': flopRate,
  B: bytes,
  W: watts,
};

/** As people write it: what What if computes has many digits. */
function inWords(override: string): string {
  const { path, value } = split(override);
  const [, number, unit = ''] = /^([\d.e+]+) (\S+)$/.exec(value) ?? [];
  return `${path} = ${written[unit]?.(Number(number)) ?? value}`;
}

const named = 3; // in a title

/** What stands behind the name of a system whose numbers are not all its own. */
export function asChanged(overrides: string[]): string {
  const words = lastOfEach(overrides).map(inWords);
  if (words.length === 0) return '';
  const more = words.length > named ? ` and ${words.length - named} more` : '';
  return ` with ${words.slice(0, named).join(', ')}${more}`;
}

/** The same of an answer: it stays true of it while the next one is on its way. */
export const asAnswered = (answer: object): string => asChanged((questionOf(answer)['set'] ?? []) as string[]);
