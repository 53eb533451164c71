// SPDX-License-Identifier: Apache-2.0
// The frame of the page: name, views, theme, link.
import type { JSX } from 'preact';
import { render } from 'preact';
import { useState } from 'preact/hooks';
import { effect, signal } from '@preact/signals';
import { inlined } from './api';
import { makeOnce, makingProblem } from './made';
import { address, currentLink, loadPresets, params, presetsProblem, view, views } from './state';
import type { View } from './state';
import { Accuracy } from './views/accuracy';
import { Compare } from './views/compare';
import { Fits } from './views/fits';
import { Hardware } from './views/hardware';
import { ModelView } from './views/model';
import { Operators } from './views/operators';
import { Predict } from './views/predict';
import { Profile } from './views/profile';
import { Scaling } from './views/scaling';
import { Run } from './views/run';
import { Search } from './views/search';
import { Serving } from './views/serving';
import { Technology } from './views/technology';
import { TimelineView } from './views/timeline';
import './styles/theme.css';
import './styles/frame.css';
import './styles/form.css';
import './styles/figures.css';
import './styles/media.css';

const titles: Record<View, string> = {
  predict: 'Predict',
  serving: 'Serving',
  run: 'Run',
  fits: 'Fits?',
  scaling: 'Scaling',
  model: 'Model',
  profile: 'Profile',
  operators: 'Operators',
  compare: 'Compare',
  hardware: 'What if',
  search: 'Search',
  timeline: 'Timeline',
  technology: 'Technology',
  accuracy: 'Accuracy',
};
const pages: Record<View, () => JSX.Element> = {
  predict: Predict,
  serving: Serving,
  run: Run,
  fits: Fits,
  scaling: Scaling,
  model: ModelView,
  profile: Profile,
  operators: Operators,
  compare: Compare,
  hardware: Hardware,
  search: Search,
  timeline: TimelineView,
  technology: Technology,
  accuracy: Accuracy,
};

const storedTheme = 'sextant-theme';
const root = document.documentElement;
const dark = signal(root.dataset['theme'] === 'dark');

function setTheme(isDark: boolean): void {
  dark.value = isDark;
  root.dataset['theme'] = isDark ? 'dark' : 'light';
}

function chooseTheme(isDark: boolean): void {
  setTheme(isDark);
  try {
    localStorage.setItem(storedTheme, isDark ? 'dark' : 'light');
  } catch {
    // A page without storage forgets the choice, and works.
  }
}

function hasChosenTheme(): boolean {
  try {
    return localStorage.getItem(storedTheme) !== null;
  } catch {
    return false;
  }
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (event) => {
  if (!hasChosenTheme()) setTheme(event.matches);
});

function CopyLink(): JSX.Element {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(currentLink());
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button type="button" class="quiet" onClick={() => void copy().catch(() => undefined)}>
      {copied ? 'Copied' : 'Copy link'}
    </button>
  );
}

function Mark(): JSX.Element {
  return (
    <svg
      class="mark"
      viewBox="0 0 32 32"
      width="26"
      height="26"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      aria-hidden="true"
    >
      <path d="M16 4 5 23M16 4l11 19M5 23a22 22 0 0 0 22 0M16 4l3 22" />
    </svg>
  );
}

function Page(): JSX.Element {
  const Current = pages[view.value];
  document.title = `Sextant: ${titles[view.value]}`;
  return (
    <>
      <header class="top">
        <a class="name" href={inlined ? undefined : address('predict', params.value)}>
          <Mark />
          Sextant
        </a>
        <nav aria-label="Views">
          {views
            .filter((name) => !inlined || name === view.value)
            .map((name) => (
              <a
                key={name}
                href={inlined ? undefined : address(name, params.value)}
                aria-current={name === view.value ? 'page' : undefined}
              >
                {titles[name]}
              </a>
            ))}
        </nav>
        <span class="tools">
          {!inlined && <CopyLink />}
          <button type="button" class="quiet" aria-pressed={dark.value} onClick={() => chooseTheme(!dark.value)}>
            Dark theme
          </button>
        </span>
      </header>
      {inlined && (
        <p class="banner">
          A saved answer, complete in this file; no server is asked. <code>sextant serve</code> lets you change it.
        </p>
      )}
      {makingProblem.value && params.value['made'] && (
        <p class="banner red" role="alert">
          The device of this link cannot be made: {makingProblem.value}
        </p>
      )}
      {presetsProblem.value && (
        <p class="banner red" role="alert">
          {presetsProblem.value}
        </p>
      )}
      <Current key={view.value} />
      <footer class="bottom">
        Analytical predictions of the <code>sextant</code> program
        {SITE && ', computed in this page; nothing is sent anywhere.'}
        {inlined && '.'}
        {!inlined && !SITE && (
          <>
            {' '}
            on this machine. <a href="/api/v1/openapi.json">HTTP API</a>
          </>
        )}
      </footer>
    </>
  );
}

if (!inlined)
  effect(() => {
    const { made } = params.value;
    if (made) void makeOnce(made);
  });

loadPresets();
const holder = document.getElementById('page');
if (holder) render(<Page />, holder);
