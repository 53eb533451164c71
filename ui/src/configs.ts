// SPDX-License-Identifier: Apache-2.0
// A Hugging Face config.json in the address: minified, deflated, in base64url, so that a link carries the model.
import { useEffect, useState } from 'preact/hooks';
import { params, unpackedConfigs } from './state';
import type { Fields } from './types';

async function through(
  data: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array<ArrayBuffer>> {
  const piped = new Blob([data])
    .stream()
    .pipeThrough(stream as ReadableWritablePair<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

const toText = (data: Uint8Array): string =>
  btoa(Array.from(data, (byte) => String.fromCharCode(byte)).join(''))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=+$/, '');

const fromText = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (letter) => letter.charCodeAt(0));

function remember(text: string, config: Fields): void {
  unpackedConfigs.value = new Map([...unpackedConfigs.value, [text, config]]);
}

/** Reads what someone pasted or dropped; throws a sentence for people. */
export function parseConfig(text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('this is not JSON; expected a Hugging Face config.json');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('expected the object of a config.json');
  return value as Fields;
}

export async function packConfig(config: Fields): Promise<string> {
  const data = new TextEncoder().encode(JSON.stringify(config)) as Uint8Array<ArrayBuffer>;
  const text = toText(await through(data, new CompressionStream('deflate-raw')));
  remember(text, config);
  return text;
}

async function unpackConfig(text: string): Promise<void> {
  if (unpackedConfigs.value.has(text)) return;
  const data = await through(fromText(text), new DecompressionStream('deflate-raw'));
  remember(text, parseConfig(new TextDecoder().decode(data)));
}

/** Unpacks what the address holds; what is wrong with it, or nothing. */
export function useConfigOfAddress(): string {
  const packed = params.value['config'];
  const [unread, setUnread] = useState<string | null>(null);
  useEffect(() => {
    if (packed) unpackConfig(packed).catch(() => setUnread(packed));
  }, [packed]);
  return packed && packed === unread ? 'the link’s config.json cannot be read' : '';
}

/** What to call it: configs name their architecture, not themselves. */
export function configTitle(config: Fields | undefined): string {
  const name = config?.['_name_or_path'] ?? config?.['name'] ?? config?.['model_type'];
  return typeof name === 'string' && name !== '' ? name : 'your config.json';
}
