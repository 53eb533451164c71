// SPDX-License-Identifier: Apache-2.0
// Files that are dropped, or chosen from a list.
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';

/** What an element needs to take a dropped file. */
export const dropped = (
  take: (file: File) => void,
): { onDragOver: (event: DragEvent) => void; onDrop: (event: DragEvent) => void } => ({
  onDragOver: (event) => event.preventDefault(),
  onDrop: (event) => {
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    take(file);
  },
});

export function FileButton({
  label,
  accept,
  take,
}: {
  label: string;
  accept: string;
  take: (file: File) => void;
}): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={accept}
        class="hidden"
        aria-label={label}
        tabIndex={-1}
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          if (file) take(file);
          event.currentTarget.value = ''; // the same file may be chosen again, changed
        }}
      />
      <button type="button" onClick={() => input.current?.click()}>
        Choose a file
      </button>
    </>
  );
}

async function isPacked(file: Blob): Promise<boolean> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  return first === 0x1f && second === 0x8b;
}

/** The text of a file, which gzip may have packed. */
export async function plainText(file: Blob): Promise<string> {
  if (!(await isPacked(file))) return file.text();
  return new Response(file.stream().pipeThrough(new DecompressionStream('gzip'))).text();
}

/** As gzip packs it; what is packed already stays as it is. */
export async function gzipped(file: Blob): Promise<Blob> {
  if (await isPacked(file)) return file;
  return new Response(file.stream().pipeThrough(new CompressionStream('gzip'))).blob();
}
