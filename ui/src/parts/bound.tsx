// SPDX-License-Identifier: Apache-2.0
// Controls of one field of the address: what it holds, or what the answer used; what is wrong with it; its legal values.
import type { JSX } from 'preact';
import type { FieldFacts } from '../fields';
import { grouped } from '../format';
import { change, knownFields, numberOf, params } from '../state';
import type { Params } from '../state';
import type { Choices, Problem } from '../types';
import { labelOf } from '../words';
import { Choice, NumberField, Problems, Toggle, problemsOf } from './fields';

/** What the answer used where the address is silent. */
export interface Used {
  values: Params;
  choices: Choices | undefined;
  problems: Problem[];
}

export const text = (name: string, used: Used, fallback: string): string =>
  params.value[name] ?? used.values[name] ?? fallback;

export const number = (name: string, used: Used, fallback: number): number => numberOf(text(name, used, ''), fallback);

/** A refusal brings no list: then everything is offered, so that one can step out of it. */
export const legal = (name: string, used: Used): number[] | undefined =>
  used.problems.length === 0 ? used.choices?.[name] : undefined;

/** What the program says of a field. */
const factsOf = (name: string): FieldFacts | undefined => knownFields.value[name];

export const choicesOf = (name: string): string[] => [...(factsOf(name)?.choices ?? [])];

interface CountProps {
  name: string;
  used: Used;
  fallback: number;
  /** Where the answer does not say what is legal; ascending. */
  values: number[];
  label?: string;
  hint?: string;
  free?: boolean;
  show?: (value: number) => string;
  read?: (text: string) => number | null;
  most?: number;
  /** The value that needs no place in the address. */
  usual?: number;
}

export function CountField({
  name,
  used,
  fallback,
  values,
  label = labelOf(name),
  hint = factsOf(name)?.help ?? '',
  free = false,
  show = (value) => (Number.isInteger(value) ? grouped(value) : String(value)),
  read,
  most,
  usual,
}: CountProps): JSX.Element {
  return (
    <NumberField
      label={label}
      hint={hint}
      name={name}
      free={free}
      {...(read ? { read } : {})}
      {...(most ? { most } : {})}
      value={number(name, used, fallback)}
      values={legal(name, used) ?? values}
      show={show}
      problems={problemsOf(used.problems, name)}
      onChange={(value) => change({ [name]: value === usual ? undefined : value })}
    />
  );
}

interface ChoiceFieldProps {
  name: string;
  used: Used;
  fallback: string;
  options?: (string | [value: string, text: string])[];
  label?: string;
  /** The value that needs no place in the address. */
  usual?: string;
}

export function ChoiceField({
  name,
  used,
  fallback,
  options = choicesOf(name),
  label = labelOf(name),
  usual,
}: ChoiceFieldProps): JSX.Element {
  return (
    <Choice
      label={label}
      name={name}
      value={text(name, used, fallback)}
      options={options}
      problems={problemsOf(used.problems, name)}
      onChange={(value) => change({ [name]: value === usual ? undefined : value })}
    />
  );
}

/** Those of a field that holds several. */
export const namesIn = (name: string, used: Used): string[] =>
  text(name, used, '')
    .split(',')
    .filter((part) => part !== '');

/** Parts of the model, each of which may be switched on. */
export function PartsField({
  name,
  used,
  without = [],
}: {
  name: string;
  used: Used;
  without?: string[];
}): JSX.Element {
  const chosen = namesIn(name, used);
  return (
    <fieldset class="field modules" data-field={name} title={factsOf(name)?.help}>
      <legend>{labelOf(name)}</legend>
      {choicesOf(name)
        .filter((part) => chosen.includes(part) || !without.includes(part))
        .map((part) => (
          <Toggle
            key={part}
            label={part}
            name={`${name}-${part}`}
            checked={chosen.includes(part)}
            onChange={(on) => change({ [name]: (on ? [...chosen, part] : chosen.filter((p) => p !== part)).join(',') })}
          />
        ))}
      <Problems of={problemsOf(used.problems, name)} />
    </fieldset>
  );
}
