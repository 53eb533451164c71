// SPDX-License-Identifier: Apache-2.0
// A device made in Technology as the system of every view: its recipe stands in the address, and the program makes it
// again wherever the link is opened.
import { signal } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { messageOf, preset } from './api';
import { overridden, overridesIn } from './overrides';
import { madeSystems, params } from './state';
import { generated } from './tech';
import type { Fields, SystemFacts } from './types';

/** A request for `tech` as one word of an address: 'node~n3,dram~hbm4,area~814 mm2'. */
export const recipeOf = (fields: Fields): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}~${String(value)}`)
    .join();

const counts = new Set(['dies', 'stacks']);

/** The request again; what is not of its form asks for nothing. */
export function requestOfRecipe(recipe: string): Fields {
  const pairs = recipe.split(',').map((pair) => pair.split('~'));
  return Object.fromEntries(
    pairs
      .filter(([name, value]) => name && value)
      .map(([name = '', value = '']) => [name, counts.has(name) ? Number(value) : value]),
  );
}

/** Why a recipe cannot be made. */
export const makingProblem = signal('');
const asked = new Map<string, Promise<void>>();

async function make(recipe: string): Promise<void> {
  const fields = requestOfRecipe(recipe);
  const { answer, system } = await generated(fields);
  const names = (system['fabrics'] as Fields[]).map((fabric) => String(fabric['name']));
  const rates = [answer.link_bytes_per_second, answer.network_bytes_per_second ?? 0];
  const facts: SystemFacts = {
    name: String(system['name']),
    devices_per_node: Number(system['devices_per_node']),
    max_devices: Number(system['max_devices']),
    device: answer.device,
    fabrics: names.map((name, index) => ({ name, bandwidth: rates[index] ?? 0 })),
  };
  madeSystems.value = new Map([...madeSystems.value, [recipe, { system, facts }]]);
}

/** Makes the device that the address asks for, once. */
export function makeOnce(recipe: string): Promise<void> {
  let making = asked.get(recipe);
  if (!making) {
    makingProblem.value = '';
    making = make(recipe).catch((error: unknown) => {
      asked.delete(recipe);
      makingProblem.value = messageOf(error);
    });
    asked.set(recipe, making);
  }
  return making;
}

/** The scenario's system in full: a preset, or one that was made; with what is overridden of it. */
export function useSystem(): SystemFacts | null {
  const { made, system: name = '', set } = params.value;
  const [system, setSystem] = useState<SystemFacts | null>(null);
  useEffect(() => {
    let current = true;
    setSystem(null);
    if (name !== '' && !made)
      preset<SystemFacts>('systems', name).then(
        (facts) => {
          if (current) setSystem(facts);
        },
        () => undefined, // the answer says what is wrong with it
      );
    return () => {
      current = false;
    };
  }, [name, made]);
  const facts = made ? madeSystems.value.get(made)?.facts : system?.name === name ? system : undefined;
  return useMemo(() => (facts ? overridden(facts, overridesIn(set)) : null), [facts, set]);
}
