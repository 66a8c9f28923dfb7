import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { trackedFiles } from '../../scripts/trackedFiles.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGES = trackedFiles(['*.md', 'docs/**/*.md', 'examples/**/*.md', '.github/**/*.md']);
const LINK = /(?:\]\(|\b(?:src|srcset)=")([^)"\s]+)/g;
// A command of this repository: `node bench/pack.ts`, `node --test test/unit/core/text/format.test.ts`.
const SCRIPT = /\bnode (?:--\S+ )*((?:bench|scripts|test)\/[\w./]+\.m?[jt]s)\b/g;

for (const page of PAGES) {
  const text = readFileSync(join(ROOT, page), 'utf8');

  test(`${page}: each link to a file of the repository leads somewhere`, () => {
    for (const [, target = ''] of text.matchAll(LINK)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path);
      assert.ok(existsSync(file), `${target} does not exist`);
      if (anchor !== undefined) assert.ok(anchorsOf(file).includes(anchor), `${target} has no such heading`);
    }
  });

  test(`${page}: each command that runs a script of the repository names one that exists`, () => {
    for (const [, script = ''] of text.matchAll(SCRIPT)) assert.ok(existsSync(join(ROOT, script)), script);
  });
}

// vsce replaces the links of Markdown pictures by addresses in the repository, but not those of `<picture>`, and marketplaces refuse SVG.
test('the pictures of the pages that a marketplace shows are PNG files in Markdown', () => {
  const text = ['README.md', 'CHANGELOG.md'].map((page) => readFileSync(join(ROOT, page), 'utf8')).join('');
  assert.doesNotMatch(text, /<(?:picture|source|img)\b/);
  const pictures = [...text.matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, path = '']) => path);
  assert.ok(pictures.length > 0);
  assert.deepEqual(
    pictures.filter((path) => !path.endsWith('.png')),
    [],
  );
});

/** As GitHub makes them: the heading in lower case, without punctuation, with hyphens for spaces. */
function anchorsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
