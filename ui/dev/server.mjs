// SPDX-License-Identifier: Apache-2.0
// For work on the page: serves dist/index.html afresh on each request, and hands /api to the real server at SEXTANT_URL.
// Without SEXTANT_URL, answers from the program's commands instead (SEXTANT, default ../build/sextant).
import { createServer, request } from 'node:http';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answerFromCommands } from './commands.mjs';

const page = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist', 'index.html');
// Paths that the commands answer although a server is there, for what it cannot do yet.
const standIn = process.env.STAND_IN ? new RegExp(process.env.STAND_IN) : null;
// As the real server sends it: what it forbids must not work here either.
const policy =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const port = Number(process.env.PORT ?? 8090);

function forward(incoming, response, origin) {
  const target = new URL(incoming.url, origin);
  const onward = request(
    target,
    { method: incoming.method, headers: { ...incoming.headers, host: target.host } },
    (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    },
  );
  onward.on('error', () => response.writeHead(502).end());
  response.on('close', () => onward.destroy());
  incoming.pipe(onward);
}

createServer((incoming, response) => {
  if (!incoming.url.startsWith('/api/')) {
    response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy })
      .end(readFileSync(page));
  } else if (process.env.SEXTANT_URL && !(standIn && standIn.test(incoming.url))) {
    forward(incoming, response, process.env.SEXTANT_URL);
  } else {
    answerFromCommands(incoming, response);
  }
}).listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}/`));
