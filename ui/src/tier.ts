// SPDX-License-Identifier: Apache-2.0
// A second memory beside the first, as the address writes it ('hbf x2'), and as a request's settings.
import type { Ranged } from './tech';
import type { Memory } from './types';

/** A memory part, as far as the page looks. */
export interface DramFacts extends Ranged {
  name: string;
  kind: string;
  year: number;
  bandwidth: number;
  capacity: number;
  energy: number;
  latency: number;
  read_only: boolean;
}

export interface Parts {
  name: string;
  count: number;
}

/** None where the text is not of its form: it asks for nothing. */
export function partsOf(text: string | undefined): Parts | null {
  const [, name, count] = /^([\w.-]+)(?: x(\d{1,2}))?$/.exec(text ?? '') ?? [];
  if (!name || name === 'none') return null;
  const number = count === undefined ? 1 : Number(count);
  return number >= 1 && number <= 64 ? { name, count: number } : null;
}

export const textOf = ({ name, count }: Parts): string => `${name} x${count}`;

/** `set` of a request: so many parts as the second memory of a device that has none of its own. */
export const tierSettings = (part: DramFacts, count: number): string[] => [
  `device.tier.kind=${part.kind}`,
  `device.tier.capacity=${count * part.capacity} B`,
  `device.tier.bandwidth=${count * part.bandwidth} B/s`,
  `device.tier.energy=${part.energy} J/B`,
  `device.tier.latency=${part.latency} s`,
  `device.tier.read_only=${part.read_only}`,
];

/** What of weights and cache lies in which of two memories; nothing where there is one. */
export function shelves(memory: Memory): { first: Memory; second: Memory } | null {
  const { first_capacity_bytes, second_capacity_bytes, second_weights_bytes = 0, second_cache_bytes = 0 } = memory;
  if (!first_capacity_bytes || !second_capacity_bytes) return null;
  const there = second_weights_bytes + second_cache_bytes;
  const one = {
    fits: memory.fits,
    ...(memory.kv_cache_bytes_per_token === undefined
      ? {}
      : { kv_cache_bytes_per_token: memory.kv_cache_bytes_per_token }),
  };
  return {
    first: {
      ...one,
      weights_bytes: memory.weights_bytes - second_weights_bytes,
      kv_cache_bytes: (memory.kv_cache_bytes ?? 0) - second_cache_bytes,
      activation_bytes: memory.activation_bytes,
      other_bytes: memory.other_bytes,
      total_bytes: memory.total_bytes - there,
      capacity_bytes: first_capacity_bytes,
    },
    second: {
      ...one,
      weights_bytes: second_weights_bytes,
      kv_cache_bytes: second_cache_bytes,
      activation_bytes: 0,
      other_bytes: 0,
      total_bytes: there,
      capacity_bytes: second_capacity_bytes,
    },
  };
}
