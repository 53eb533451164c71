// SPDX-License-Identifier: Apache-2.0
// A model's graph for the page: its layers in order, and the time of each operator in a scenario.
import type { ModelAnswer, ModelBranch, ModelOperator, Operator } from './types';
import type { Tone } from './words';

/** A column of the drawing: a layer, or what stands before and after them. */
export interface Layer {
  name: string;
  branches: ModelBranch[];
  /** How each branch is drawn: what mixes tokens, what follows it, what is no layer. */
  tones: Tone[];
}

export function layersOf({ stretches, branches }: Pick<ModelAnswer, 'stretches' | 'branches'>): Layer[] {
  const named = new Map(branches.map((branch) => [branch.name, branch]));
  const layers = stretches.flatMap(({ first, count, mixer, mlp }) => {
    // Of some models a layer has one of the two.
    const own = [mixer, mlp].flatMap((name) => named.get(name) ?? []);
    const tones = own.map(({ name }): Tone => (name === mixer ? 'work' : 'work-2'));
    return Array.from({ length: count }, (_, at) => ({ name: `layer ${first + at}`, branches: own, tones }));
  });
  const inLayers = new Set(stretches.flatMap(({ mixer, mlp }) => [mixer, mlp]));
  const ends = branches.filter((branch) => !inLayers.has(branch.name));
  const columns = ends.map((branch): Layer => ({ name: branch.name, branches: [branch], tones: ['rest'] }));
  // The head follows the layers; what makes tokens of images, and the embedding, stand before them.
  return [...columns.slice(0, -1), ...layers, ...columns.slice(-1)];
}

/** Shares of the time, by branch and operator of the model; what passes between devices under its own name. */
export type Shares = ReadonlyMap<string, ReadonlyMap<string, number>>;

export const between = 'between devices';

export function sharesOf(operators: Operator[], seconds: number): Shares {
  const shares = new Map<string, Map<string, number>>();
  for (const operator of operators) {
    if (!operator.branch) continue;
    const of = shares.get(operator.branch) ?? new Map<string, number>();
    shares.set(operator.branch, of);
    const name = operator.message_bytes > 0 ? between : operator.node;
    of.set(name, (of.get(name) ?? 0) + (operator.exposed_seconds * operator.runs) / seconds);
  }
  return shares;
}

export const shareOf = (shares: Shares, branch: ModelBranch): number =>
  [...(shares.get(branch.name)?.values() ?? [])].reduce((sum, share) => sum + share, 0);

/** Operators of the same name in one branch are one row. */
export function operatorsOf(branch: ModelBranch): ModelOperator[] {
  const rows = new Map<string, ModelOperator>();
  for (const operator of branch.operators) {
    const before = rows.get(operator.name);
    rows.set(
      operator.name,
      before
        ? {
            ...before,
            parameters: before.parameters + operator.parameters,
            active_parameters: before.active_parameters + operator.active_parameters,
            flops_per_token: before.flops_per_token + operator.flops_per_token,
            cache_bytes_per_token: before.cache_bytes_per_token + operator.cache_bytes_per_token,
            state_bytes: before.state_bytes + operator.state_bytes,
          }
        : operator,
    );
  }
  return [...rows.values()];
}

export const measures = ['time', 'parameters', 'flops', 'cache'] as const;
export type Measure = (typeof measures)[number];

/** What one layer has of it in a branch; of the time, its share of the layers that have the branch. */
export function amountOf(branch: ModelBranch, measure: Measure, shares: Shares): number {
  if (measure === 'time') return shareOf(shares, branch) / Math.max(1, branch.layers);
  if (measure === 'parameters') return branch.parameters;
  return measure === 'flops' ? branch.flops_per_token : branch.cache_bytes_per_token;
}
