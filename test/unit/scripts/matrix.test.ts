import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { type Row, formatMatrix, note } from '../../../scripts/matrix/table.ts';
import { RELEASE_VARIABLE, chosenRelease, newestRelease, oldestRelease } from '../../../scripts/vscode/releases.ts';

const { engines } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8')) as {
  engines: { vscode: string };
};
const rowOf = (platform: string): Row => ({ platform, artefact: 'a.tgz', cells: new Map() });

suite('the matrix of platforms', () => {
  test('the oldest VS Code is the one that package.json promises', () => {
    assert.equal(`^${oldestRelease().vscode.replace(/\.\d+$/, '.0')}`, engines.vscode);
  });

  test('a release of code-server is chosen by its version, and an unknown one is refused', () => {
    try {
      assert.equal(chosenRelease(), newestRelease());
      process.env[RELEASE_VARIABLE] = oldestRelease().codeServer;
      assert.equal(chosenRelease(), oldestRelease());
      process.env[RELEASE_VARIABLE] = '1.2.3';
      assert.throws(() => chosenRelease(), /is 1\.2\.3; .* lists .*4\./);
    } finally {
      delete process.env[RELEASE_VARIABLE];
    }
  });

  test('a cell has failed with one of its tests, and is skipped only where none ran', () => {
    const row = rowOf('here');
    for (const outcome of ['ok', 'FAILED', 'skipped', 'ok'] as const) note(row, 'flow', outcome);
    for (const outcome of ['skipped', 'ok', 'skipped'] as const) note(row, 'search', outcome);
    note(row, 'serve', 'skipped');
    assert.deepEqual(Object.fromEntries(row.cells), { flow: 'FAILED', search: 'ok', serve: 'skipped' });
  });

  test('the table has a row for each platform, and a dash for what it does not have', () => {
    const [here, there] = [rowOf('here'), rowOf('there')];
    note(here, 'flow', 'ok');
    note(there, 'serve', 'FAILED');
    assert.equal(
      formatMatrix([here, there]),
      [
        '| platform | artefact | flow | serve  |',
        '| -------- | -------- | ---- | ------ |',
        '| here     | a.tgz    | ok   | –      |',
        '| there    | a.tgz    | –    | FAILED |',
        '',
      ].join('\n'),
    );
  });
});
