// SPDX-License-Identifier: Apache-2.0
// The fields of a second memory: which, and how many parts of it.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { preset } from '../api';
import { byteRate, bytes } from '../format';
import { change, params, presets } from '../state';
import { partsOf, textOf } from '../tier';
import type { DramFacts } from '../tier';
import type { Problem } from '../types';
import { NumberField, Picker } from './fields';

/** All presets of a kind in full: years and kinds order the axes. */
export function useFacts<T extends { name: string }>(kind: string, names: string[]): T[] {
  const [facts, setFacts] = useState<T[]>([]);
  useEffect(() => {
    let current = true;
    void Promise.all(names.map((name) => preset<T>(kind, name))).then(
      (all) => {
        if (current) setFacts(all);
      },
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [kind, names.join()]);
  return facts;
}

export const useDrams = (): DramFacts[] =>
  useFacts<DramFacts>(
    'drams',
    (presets.value?.drams ?? []).map((entry) => entry.name),
  );

/** What stands beside HBM: chips, modules and flash, not more of the same. */
const beside = (dram: DramFacts): boolean => !dram.name.startsWith('hbm');

const counts = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];

export function TierFields({ drams, problems }: { drams: DramFacts[]; problems: Problem[] }): JSX.Element {
  const parts = partsOf(params.value['tier']);
  const part = drams.find((dram) => dram.name === parts?.name);
  // What was to be placed there has no place without it.
  const take = (name: string): void =>
    change(
      name === 'none'
        ? { tier: undefined, placement: undefined }
        : { tier: textOf({ name, count: parts?.count ?? 4 }), placement: undefined },
    );
  return (
    <>
      <Picker
        label="Second memory"
        name="tier"
        value={parts?.name ?? 'none'}
        options={[
          { name: 'none', detail: 'device memory alone' },
          ...drams
            .filter(beside)
            .sort((a, b) => b.bandwidth - a.bandwidth)
            .map((dram) => ({
              name: dram.name,
              detail: `${dram.kind}, ${byteRate(dram.bandwidth)} and ${bytes(dram.capacity)} a part${dram.read_only ? '; for weights' : ''}`,
            })),
        ]}
        problems={problems}
        onChange={take}
      />
      {parts && (
        <NumberField
          label="Parts of it"
          name="tier_parts"
          hint={part ? `${byteRate(parts.count * part.bandwidth)}, ${bytes(parts.count * part.capacity)}` : ''}
          value={parts.count}
          values={counts.includes(parts.count) ? counts : [...counts, parts.count].sort((a, b) => a - b)}
          onChange={(count) => change({ tier: textOf({ name: parts.name, count }) })}
        />
      )}
    </>
  );
}
