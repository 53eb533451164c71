// SPDX-License-Identifier: Apache-2.0
// Builds dist/index.html: one file with script, style and fonts inside, so that the program can embed it and an answer
// can travel as one file. Usage: node build.mjs [--watch] [--site]
import { context } from 'esbuild';
import { gzipSync } from 'node:zlib';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(fileURLToPath(import.meta.url));
const limit = 260 * 1024; // gzipped; the promise of a first load without waiting
const site = process.argv.includes('--site'); // without a server: see site.ts
const folder = join(root, site ? 'dist-site' : 'dist');
const output = join(folder, 'index.html');

/** Text that may stand inside a <script> or <style> element: no sequence may close it. */
const enclosed = (text, tag) => text.replaceAll(new RegExp(`</(${tag})`, 'gi'), '<\\/$1');

/** The packages whose files are in the bundle, by name: version, licence and its text. */
function packagesOf(metafile) {
  const names = new Set();
  for (const input of Object.keys(metafile.inputs)) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (found) names.add(found[1]);
  }
  return [...names].sort().map((name) => {
    const folder = join(root, 'node_modules', name);
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((entry) => /^(licen[sc]e|copying)/i.test(entry));
    if (!license || !file) throw new Error(`${name} says no licence: it may not be bundled`);
    return { name, version, license, text: readFileSync(join(folder, file), 'utf8').trim() };
  });
}

/** Their licences, each text once, below the packages that it is of. */
function noticesOf(packages) {
  const byText = new Map();
  for (const { name, version, text } of packages) {
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version}`]);
  }
  return [...byText].map(([text, names]) => `${names.join(', ')}\n\n${text}\n`).join('\n----\n\n');
}

/** Text as an element may hold it. */
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Puts the bundle into the template. Replacement functions, because `$&` occurs in minified code. */
function assemble(files, metafile) {
  const packages = packagesOf(metafile);
  const notices = noticesOf(packages);
  const bundled = (suffix) => files.find((file) => file.path.endsWith(suffix)).text;
  const page = readFileSync(join(root, 'src', 'index.html'), 'utf8')
    .replace('/*style*/', () => enclosed(bundled('.css'), 'style'))
    .replace('/*script*/', () => enclosed(bundled('.js'), 'script'))
    .replace('/*notices*/', () => escaped(notices));
  // `--format html` puts an answer before the last <script>: none may occur inside the code.
  if (page.split('<script>').length !== 3) throw new Error('the bundle contains a <script> of its own');
  mkdirSync(dirname(output), { recursive: true });
  const listed = packages.map(({ name, version, license }) => ({ name, version, license }));
  writeFileSync(join(folder, 'packages.json'), JSON.stringify(listed, null, 1) + '\n');
  writeFileSync(join(folder, 'notices.txt'), notices);
  writeFileSync(`${output}.new`, page);
  renameSync(`${output}.new`, output);
  const packed = gzipSync(page, { level: 9 }).length;
  if (site) copyFileSync(join(root, 'src', 'site-worker.js'), join(folder, 'worker.js'));
  console.log(
    `${site ? 'dist-site' : 'dist'}/index.html: ${(page.length / 1024).toFixed(0)} KB, ${(packed / 1024).toFixed(0)} KB gzipped`,
  );
  if (packed > limit) throw new Error(`the page is over ${limit / 1024} KB gzipped`);
}

const bundler = await context({
  absWorkingDir: root,
  entryPoints: ['src/main.tsx'],
  outdir: 'dist',
  write: false,
  metafile: true,
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2021',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  define: { SITE: String(site) },
  loader: { '.woff2': 'dataurl' },
  plugins: [
    {
      name: 'assemble',
      setup: (build) =>
        build.onEnd((result) => {
          if (result.errors.length === 0) assemble(result.outputFiles, result.metafile);
        }),
    },
  ],
});
if (process.argv.includes('--watch')) {
  await bundler.watch();
} else {
  try {
    await bundler.rebuild();
  } finally {
    await bundler.dispose();
  }
}
