import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { trackedFiles } from '../../scripts/trackedFiles.ts';

const ROOT = join(import.meta.dirname, '../..');

/** What each artefact takes of the project besides what is built: these files, but the ones that only those need who change Farwharf. */
const PACKED = {
  '.vscodeignore': {
    patterns: [
      'package.json',
      'package.nls*.json',
      'l10n/bundle.l10n.*.json',
      '{README,CHANGELOG}.md',
      'LICENSE',
      'media/{icon.png,farwharf.svg,flowGutter.svg,*.json}',
      'media/flowTemplates/**',
      'media/walkthrough/**',
      'agentPlugin/**',
      'terminal/**',
      'examples/quickstart/**',
    ],
    leftOut: [],
  },
  '.npmignore': {
    patterns: ['CHANGELOG.md', 'agentPlugin/**', 'docs/**', 'examples/**', 'monitoring/**', 'server/**'],
    leftOut: ['docs/conventions.md', 'docs/decisions.md'],
  },
};

for (const [list, { patterns, leftOut }] of Object.entries(PACKED)) {
  const lines = readFileSync(join(ROOT, list), 'utf8').split('\n');
  const taken = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  const named = taken.filter((path) => !path.startsWith('dist/'));

  test(`${list} names each file that is packed, and nothing that git does not track`, () => {
    const expected = trackedFiles(patterns).filter((path) => !(leftOut as readonly string[]).includes(path));
    assert.ok(expected.length > 10);
    const hint = `If a file is to be packed, add its path to ${list}, and if not, to the ones left out in this test.`;
    assert.deepEqual(named.toSorted(), expected, hint);
  });

  test(`${list} leaves out all that it does not name`, () => {
    assert.match(lines.filter((line) => line !== '' && !/^[#!]/.test(line)).join(' '), /^\*\*?$/);
  });
}
