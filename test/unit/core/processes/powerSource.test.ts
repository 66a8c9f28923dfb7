import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readPowerSource } from '../../../../src/core/processes/powerSource.ts';

const BATTERY = { type: 'Battery', status: 'Discharging' };
const CASES: readonly [
  what: string,
  supplies: Readonly<Record<string, Readonly<Record<string, string>>>>,
  source: string,
][] = [
  ['a laptop without its plug', { AC: { type: 'Mains', online: '0' }, BAT0: BATTERY }, 'battery'],
  ['a laptop that charges', { AC: { type: 'Mains', online: '1' }, BAT0: { ...BATTERY, status: 'Charging' } }, 'mains'],
  [
    'a laptop at a weak charger, which discharges all the same',
    { BAT0: BATTERY, usb: { type: 'USB', online: '1' } },
    'mains',
  ],
  ['a full battery', { BAT0: { ...BATTERY, status: 'Full' } }, 'mains'],
  ['a desktop with a wireless mouse', { mouse: { ...BATTERY, scope: 'Device' } }, 'mains'],
  ['a desktop', {}, 'mains'],
];

for (const [what, supplies, source] of CASES) {
  test(`${what} is on ${source}`, { skip: process.platform !== 'linux' && 'ONLY ON LINUX' }, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'farwharf-power-'));
    t.after(() => rm(folder, { recursive: true }));
    for (const [name, files] of Object.entries(supplies)) {
      await mkdir(join(folder, name));
      for (const [file, text] of Object.entries(files)) await writeFile(join(folder, name, file), `${text}\n`);
    }
    assert.equal(await readPowerSource(folder), source);
  });
}

test('a machine that does not tell is on mains', async () => {
  assert.equal(await readPowerSource('/no/such/folder'), 'mains');
});
