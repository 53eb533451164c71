// SPDX-License-Identifier: Apache-2.0
// The column of controls. On narrow screens it stands above the answer, and folds away.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const narrowScreen = matchMedia('(max-width: 980px)');

export function Side({
  title,
  unfolded,
  children,
}: {
  title: string;
  unfolded?: boolean;
  children: ComponentChildren;
}): JSX.Element {
  const [open, setOpen] = useState(!narrowScreen.matches || unfolded === true);
  useEffect(() => {
    // A column that was folded must not stay hidden when the window grows.
    const widened = (event: MediaQueryListEvent): void => {
      if (!event.matches) setOpen(true);
    };
    narrowScreen.addEventListener('change', widened);
    return () => narrowScreen.removeEventListener('change', widened);
  }, []);
  return (
    <details class="side" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}
