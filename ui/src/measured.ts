// SPDX-License-Identifier: Apache-2.0
// Runs that someone measured, each as the scenario that predicts it; and the one that is the scenario at hand.
import { signal } from '@preact/signals';
import { cases as askCases, inlined } from './api';
import type { Params } from './state';
import type { Answer, MeasuredCase } from './types';
import { usedBy } from './used';

export const measured = signal<MeasuredCase[]>([]);
if (!inlined)
  void askCases().then(
    (list) => {
      measured.value = list;
    },
    () => undefined, // a page without them predicts all the same
  );

const texts = (request: MeasuredCase['request']): Record<string, string> =>
  Object.fromEntries(Object.entries(request).map(([name, value]) => [name, String(value)]));

export const paramsOf = ({ kind, request }: MeasuredCase): Params => ({ kind, ...texts(request) });

/** Every field of a measured run's scenario is as the answer used it. */
function isOf(run: MeasuredCase, answer: Answer, kind: string): boolean {
  if (run.kind !== kind || !(run.metric in answer)) return false;
  const used: Record<string, string> = { ...usedBy(answer), model: answer.model, system: answer.system };
  return Object.entries(texts(run.request)).every(([name, value]) => used[name] === undefined || used[name] === value);
}

export const measuredFor = (answer: Answer, kind: string): MeasuredCase | undefined =>
  measured.value.find((run) => isOf(run, answer, kind));
