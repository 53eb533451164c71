// SPDX-License-Identifier: Apache-2.0
// The whole answer to a scenario, for views that ask about a part of it: what it used, what else is legal, how sure it is.
import { inlined, post } from './api';
import { useLive } from './live';
import type { Live } from './live';
import { requestOf } from './state';
import type { Params } from './state';
import type { Answer, Fields } from './types';

const pathOf = (scenario: Params | null): string => (scenario?.['kind'] === 'infer' ? '/infer' : '/train');

/** The answer to a scenario, once. */
export const wholeOf = (scenario: Params, signal: AbortSignal): Promise<Answer> =>
  post(pathOf(scenario), requestOf(scenario) ?? {}, signal);

export function useWhole(scenario: Params | null): Live<Answer> {
  const request = scenario && !inlined ? requestOf(scenario) : null;
  const asked: Fields | null = request && { ...request, choices: true };
  const path = pathOf(scenario);
  return useLive<Answer>(asked && JSON.stringify(asked) + path, (signal) => post(path, asked ?? {}, signal));
}

/** How sure a number of this scenario is; nothing until that is known. */
export function useSure(scenario: Params | null): Answer | null {
  const { answer, settled } = useWhole(scenario);
  return scenario && settled ? answer : null;
}
