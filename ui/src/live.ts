// SPDX-License-Identifier: Apache-2.0
// Requests that follow a value while it is dragged.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Refusal, messageOf } from './api';
import type { Problem } from './types';

export interface Live<T> {
  /** The latest answer; stays while the next one is on its way. */
  answer: T | null;
  problems: Problem[];
  busy: boolean;
  /** What is shown, or refused, is what is asked now. */
  settled: boolean;
}

/** The latest answer or refusal, and the key that it is of. */
type State<T> = Omit<Live<T>, 'settled'> & { of: string | null };

/** A request still under way after this long is given up for the newer one. */
const patience = 150; // ms
/** A server that does not answer is asked again after this long: it may have been started anew. */
const pause = 2000; // ms

/**
 * Asks whenever `key` changes. One request at a time, and then the newest: aborting at each movement would show nothing
 * until the hand rests, queueing all of them would lag behind it.
 */
export function useLive<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>): Live<T> {
  const [state, set] = useState<State<T>>({ answer: null, problems: [], busy: key !== null, of: null });
  const [tries, setTries] = useState(0);
  const latest = useRef({ key, ask });
  latest.current = { key, ask };
  const flight = useRef<{ key: string; started: number; controller: AbortController } | null>(null);

  useEffect(() => {
    const launch = (): void => {
      const { key: wanted, ask: request } = latest.current;
      if (wanted === null) return;
      const mine = { key: wanted, started: performance.now(), controller: new AbortController() };
      flight.current = mine;
      request(mine.controller.signal).then(
        (answer) => land(mine, () => ({ answer, problems: [], busy: false, of: wanted })),
        (error: unknown) => land(mine, (old) => ({ ...old, problems: problemsIn(error), busy: false, of: wanted })),
      );
    };
    const land = (mine: NonNullable<typeof flight.current>, next: (old: State<T>) => State<T>): void => {
      if (flight.current !== mine) return; // given up for a newer one
      flight.current = null;
      set(next);
      if (latest.current.key !== null && latest.current.key !== mine.key) launch();
    };
    if (key === null || flight.current?.key === key) return undefined;
    const running = flight.current;
    if (!running) {
      launch();
      return undefined;
    }
    const giveUp = setTimeout(
      () => {
        if (flight.current !== running) return;
        running.controller.abort();
        launch();
      },
      Math.max(0, running.started + patience - performance.now()),
    );
    return () => clearTimeout(giveUp);
  }, [key, tries]);

  useEffect(() => {
    if (!state.problems.some(({ unreachable }) => unreachable)) return undefined;
    const again = setTimeout(() => setTries(tries + 1), pause);
    return () => clearTimeout(again);
  }, [state]);

  useEffect(
    () => () => {
      flight.current?.controller.abort();
      flight.current = null;
    },
    [],
  );
  return { ...state, settled: state.of === key };
}

/** The key, once it has stayed the same for so long; null until then. For what is dear and may come later. */
export function useRested(key: string | null, rest = 200): string | null {
  const [rested, setRested] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setRested(key), rest);
    return () => clearTimeout(timer);
  }, [key, rest]);
  return rested === key ? key : null;
}

export function problemsIn(error: unknown): Problem[] {
  if (error instanceof Refusal) return error.problems;
  return [{ field: '', message: messageOf(error) }];
}
