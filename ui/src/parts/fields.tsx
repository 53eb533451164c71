// SPDX-License-Identifier: Apache-2.0
// Form controls: each with a label, each usable from the keyboard, each with its problems beside it.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { grouped, wholeNumber } from '../format';
import type { Problem } from '../types';
import { labelOf } from '../words';

/** 'scenarios[1].tp' is B's tensor-parallel degree. */
export function nameOf(field: string): string {
  const [, column, inner] = /^scenarios\[(\d+)\]\.?(.*)$/.exec(field) ?? [];
  if (column === undefined) return field === '' ? '' : labelOf(field);
  const letter = String.fromCharCode(65 + Number(column));
  return inner ? `${letter}, ${labelOf(inner)}` : letter;
}

interface ProblemsProps {
  of: Problem[];
  id?: string;
  /** Away from the field that is wrong: say which it is. A part of a field is named in any case. */
  named?: boolean;
}

export function Problems({ of, id, named }: ProblemsProps): JSX.Element | null {
  if (of.length === 0) return null;
  return (
    <p class="problem" role="alert" id={id}>
      {of.map((problem) => (
        <span key={problem.field + problem.message}>
          {(named || problem.field.includes('.')) && problem.field !== '' && <b>{nameOf(problem.field)}: </b>}
          {problem.message}
          {problem.hint ? <em>{problem.hint}</em> : null}
        </span>
      ))}
    </p>
  );
}

export const problemsOf = (problems: Problem[], field: string): Problem[] =>
  problems.filter((problem) => problem.field === field);

interface NumberFieldProps {
  label: string;
  hint?: string;
  value: number;
  /** The values that may be chosen, ascending. */
  values: number[];
  show?: (value: number) => string;
  problems?: Problem[];
  name: string;
  /** Some values may be typed as well. */
  free?: boolean;
  /** Of what is typed where that is no count: its value, or null. */
  read?: (text: string) => number | null;
  /** What is typed beyond is refused here, as the program would. */
  most?: number;
  onChange: (value: number) => void;
}

/** A slider over the legal values, with a step down and a step up: no other value can be reached. */
export function NumberField({
  label,
  hint,
  value,
  values,
  show = String,
  problems = [],
  name,
  free,
  read,
  most,
  onChange,
}: NumberFieldProps): JSX.Element {
  const id = useId();
  // The current value stays on the scale even when another choice has made it illegal: the thumb must not jump.
  const scale = useMemo(
    () => (values.includes(value) ? values : [...values, value].sort((a, b) => a - b)),
    [values.join(), value],
  );
  const at = scale.indexOf(value);
  const step = (by: number): void => {
    const next = scale[at + by];
    if (next !== undefined) onChange(next);
  };
  return (
    <div class={`field number ${problems.length > 0 ? 'wrong' : ''}`} data-field={name}>
      <label for={id} title={hint}>
        {label}
      </label>
      <input
        id={id}
        type="range"
        min={0}
        max={Math.max(0, scale.length - 1)}
        step={1}
        value={at}
        disabled={scale.length < 2}
        aria-valuetext={show(value)}
        aria-invalid={problems.length > 0}
        aria-describedby={problems.length > 0 ? `${id}-p` : undefined}
        onInput={(event) => {
          const next = scale[Number(event.currentTarget.value)];
          if (next !== undefined && next !== value) onChange(next);
        }}
      />
      <span class="stepper">
        <button type="button" aria-label={`${label}: less`} disabled={at <= 0} onClick={() => step(-1)}>
          −
        </button>
        {free ? (
          <TypedNumber
            label={`${label}, typed`}
            value={value}
            show={show}
            read={read}
            most={most}
            onChange={onChange}
          />
        ) : (
          <output for={id}>{show(value)}</output>
        )}
        <button type="button" aria-label={`${label}: more`} disabled={at >= scale.length - 1} onClick={() => step(1)}>
          +
        </button>
      </span>
      <Problems of={problems} id={`${id}-p`} />
    </div>
  );
}

export function TypedNumber({
  label,
  value,
  show,
  read = wholeNumber,
  most = 1e8, // of tokens and sequences, of which the program takes the most
  onChange,
}: {
  label: string;
  value: number;
  show: (value: number) => string;
  read?: ((text: string) => number | null) | undefined;
  most?: number | undefined;
  onChange: (value: number) => void;
}): JSX.Element {
  const [text, setText] = useState<string | null>(null);
  const [complaint, setComplaint] = useState('');
  const id = useId();
  const faultOf = (next: number | null): string => {
    if (next !== null) return next > most ? `is too large: ${grouped(most)} at most` : '';
    return `is no ${read === wholeNumber ? 'whole number above 0; 1024, 1,024 and 1k are' : 'number that fits here'}`;
  };
  const commit = (): void => {
    if (text === null) return;
    const next = read(text);
    // What cannot be read stays to be mended.
    const wrong = text.trim() === '' ? '' : faultOf(next);
    setComplaint(wrong);
    if (wrong) return;
    if (next !== null && next !== value) onChange(next);
    setText(null);
  };
  return (
    <>
      <input
        class="typed"
        type="text"
        inputMode="numeric"
        aria-label={label}
        aria-invalid={complaint !== ''}
        aria-describedby={complaint ? id : undefined}
        value={text ?? show(value)}
        onFocus={(event) => {
          if (!complaint) {
            setText(String(value));
            // Now, not when it is drawn: that would undo the selection, and what is typed would be added to the value.
            event.currentTarget.value = String(value);
          }
          event.currentTarget.select();
        }}
        onInput={(event) => setText(event.currentTarget.value)}
        onBlur={commit}
        onKeyDown={(event) => {
          if (event.key === 'Enter') commit();
          if (event.key === 'Escape') {
            setText(String(value));
            setComplaint('');
          }
        }}
      />
      {complaint && (
        <span class="problem unread" role="alert" id={id}>
          “{text}” {complaint}
        </span>
      )}
    </>
  );
}

interface ChoiceProps {
  label: string;
  name: string;
  value: string;
  options: (string | [value: string, text: string])[];
  problems?: Problem[];
  onChange: (value: string) => void;
}

/** A row of radio buttons that look like one control. */
export function Choice({ label, name, value, options, problems = [], onChange }: ChoiceProps): JSX.Element {
  const id = useId();
  return (
    <fieldset class="field choice" data-field={name}>
      <legend>{label}</legend>
      <span class="segments">
        {options.map((option) => {
          const [key, text] = typeof option === 'string' ? [option, option] : option;
          return (
            <label key={key} class={key === value ? 'on' : ''}>
              <input
                type="radio"
                name={`${id}-${name}`}
                value={key}
                checked={key === value}
                onChange={() => onChange(key)}
              />
              {text}
            </label>
          );
        })}
      </span>
      <Problems of={problems} />
    </fieldset>
  );
}

export function Toggle({
  label,
  name,
  checked,
  onChange,
}: {
  label: string;
  name: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}): JSX.Element {
  return (
    <label class="field toggle" data-field={name}>
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} /> {label}
    </label>
  );
}

export function TextField({
  label,
  name,
  value,
  placeholder,
  problems = [],
  onChange,
}: {
  label: string;
  name: string;
  value: string;
  placeholder?: string;
  problems?: Problem[];
  onChange: (value: string) => void;
}): JSX.Element {
  const id = useId();
  return (
    <div class={`field text ${problems.length > 0 ? 'wrong' : ''}`} data-field={name}>
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        value={value}
        placeholder={placeholder}
        spellcheck={false}
        onChange={(event) => onChange(event.currentTarget.value.trim())}
      />
      <Problems of={problems} />
    </div>
  );
}

export interface Option {
  name: string;
  detail?: string;
}

interface PickerProps {
  label: string;
  name: string;
  value: string;
  options: Option[];
  problems?: Problem[];
  after?: ComponentChildren;
  bare?: boolean;
  onChange: (value: string) => void;
}

/** How well an option matches what was typed: all words must occur; a name that starts so comes first. */
function rank(option: Option, words: string[]): number {
  const text = `${option.name} ${option.detail ?? ''}`.toLowerCase();
  if (!words.every((word) => text.includes(word))) return -1;
  return option.name.toLowerCase().startsWith(words[0] ?? '') ? 2 : 1;
}

/** Keeps a list beside its box, in front of everything: inside the column of controls it would be cut off. */
function placed(box: HTMLElement | null, list: HTMLElement | null): (() => void) | undefined {
  if (!box || !list) return undefined;
  const gap = 8; // px to the edge of the window
  const place = (): void => {
    const { left, top, bottom, width } = box.getBoundingClientRect();
    const [below, above] = [innerHeight - bottom - gap, top - gap];
    const up = below < Math.min(240, list.scrollHeight) && above > below;
    list.style.minWidth = `${width}px`;
    list.style.maxHeight = `${Math.min(360, up ? above : below)}px`;
    list.style.left = `${Math.max(gap, Math.min(left, innerWidth - list.offsetWidth - gap))}px`;
    list.style.top = up ? `${top - list.offsetHeight - 2}px` : `${bottom + 2}px`;
  };
  place();
  addEventListener('scroll', place, { capture: true, passive: true });
  addEventListener('resize', place);
  return () => {
    removeEventListener('scroll', place, { capture: true });
    removeEventListener('resize', place);
  };
}

/** A search box over a list, after the ARIA combobox pattern. */
export function Picker({
  label,
  name,
  value,
  options,
  problems = [],
  after,
  bare,
  onChange,
}: PickerProps): JSX.Element {
  const id = useId();
  const [text, setText] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const found = useMemo(() => {
    const words = (text ?? '')
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '');
    if (words.length === 0) return options;
    return options
      .map((option) => ({ option, score: rank(option, words) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .map(({ option }) => option);
  }, [text, options]);
  const isOpen = text !== null;
  const show = (): void => {
    setText('');
    setAt(
      Math.max(
        0,
        options.findIndex((option) => option.name === value),
      ),
    );
  };
  const choose = (option: Option | undefined): void => {
    if (option && option.name !== value) onChange(option.name);
    setText(null);
  };
  const box = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => (isOpen ? placed(box.current, list.current) : undefined), [isOpen, found]);
  useEffect(() => {
    const [items, item] = [list.current, list.current?.children[at] as HTMLElement | undefined];
    if (!isOpen || !items || !item) return;
    // Not `scrollIntoView`, which moves the page as well.
    const [top, bottom] = [item.offsetTop, item.offsetTop + item.offsetHeight];
    if (top < items.scrollTop) items.scrollTop = top;
    if (bottom > items.scrollTop + items.clientHeight) items.scrollTop = bottom - items.clientHeight;
  }, [isOpen, at]);
  const keys = (event: KeyboardEvent): void => {
    if (!isOpen) {
      if (event.key === 'ArrowDown' || event.key === 'Enter') {
        event.preventDefault();
        show();
      }
      return;
    }
    if (event.key === 'ArrowDown') setAt(Math.min(found.length - 1, at + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1));
    else if (event.key === 'Enter') choose(found[at]);
    else if (event.key === 'Escape') setText(null);
    else return;
    event.preventDefault();
  };
  return (
    <div class={`field picker ${problems.length > 0 ? 'wrong' : ''}`} data-field={name}>
      <label for={id} class={bare ? 'hidden' : ''}>
        {label}
      </label>
      <span class="combo">
        <input
          ref={box}
          id={id}
          type="text"
          role="combobox"
          autocomplete="off"
          spellcheck={false}
          aria-expanded={isOpen}
          aria-controls={`${id}-list`}
          aria-activedescendant={isOpen && found[at] ? `${id}-${at}` : undefined}
          value={text ?? value}
          placeholder={value}
          onFocus={show}
          onClick={() => {
            if (!isOpen) show();
          }}
          onBlur={() => setText(null)}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={keys}
        />
        {isOpen && (
          // A list that scrolls would take the focus of Tab, and be gone with it.
          <ul ref={list} id={`${id}-list`} role="listbox" aria-label={label} tabIndex={-1}>
            {found.slice(0, 300).map((option, index) => (
              // The press must not take the focus from the box: the list would close before the click arrives.
              <li
                key={option.name}
                id={`${id}-${index}`}
                role="option"
                aria-selected={index === at}
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => choose(option)}
              >
                <b>{option.name}</b>
                <i>{option.detail}</i>
              </li>
            ))}
            {found.length === 0 && <li class="none">nothing of that name</li>}
          </ul>
        )}
      </span>
      {after}
      <Problems of={problems} />
    </div>
  );
}
