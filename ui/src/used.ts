// SPDX-License-Identifier: Apache-2.0
// What an answer used, by the names of the form's fields: where the address is silent, the form shows these.
import type { Answer, SearchAnswer } from './types';
import { isTraining } from './types';

type Values = Record<string, string>;

/** Those members that are one value; lists and tables have no field. */
function flat(record: object): Values {
  const values = Object.entries(record).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  return Object.fromEntries(values.map(([name, value]) => [name, String(value)]));
}

/** Parts that are switched on, by name. */
export const partsOn = (parts: object): string[] =>
  Object.entries(parts)
    .filter(([, on]) => on === true)
    .map(([name]) => name);

export function usedBy(answer: Answer | null | undefined): Values {
  if (!answer) return {};
  const { runtime, gpus, strategy } = answer;
  return {
    runtime,
    gpus: String(gpus),
    ...flat(strategy),
    recompute_modules: partsOn(strategy.modules).join(),
    ...(isTraining(answer)
      ? {
          ...flat(answer.training),
          lora_targets: partsOn(answer.training.lora_targets).join(),
          frozen: partsOn(answer.training.frozen).join(),
          predict_ahead: String(answer.predict_ahead),
        }
      : flat(answer.serving)),
  };
}

/** A search leaves the strategy open; what it held is used all the same. */
export const usedBySearch = (answer: SearchAnswer | null): Values =>
  answer ? flat({ runtime: answer.runtime, gpus: answer.gpus, batch: answer.batch, seq: answer.seq }) : {};
