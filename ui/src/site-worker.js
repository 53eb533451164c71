// SPDX-License-Identifier: Apache-2.0
// The program in a worker: takes questions of site.ts one after another.
/* global importScripts, loadSextant */
importScripts('sextant.js');
const loaded = loadSextant();

onmessage = async ({ data: { id, method, path, query, type, body } }) => {
  const program = await loaded;
  const texts = [method, path, query, type].map((text) => {
    const size = program.lengthBytesUTF8(text) + 1;
    const at = program._malloc(size);
    program.stringToUTF8(text, at, size);
    return at;
  });
  const at = program._malloc(body.length + 1);
  program.HEAPU8.set(body, at);
  const answer = program.UTF8ToString(program._sextant_answer(...texts, at, body.length));
  for (const text of [...texts, at]) program._free(text);
  postMessage({ id, status: program._sextant_status(), body: answer });
};
