import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
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
  [
    'a laptop with two batteries, of which one discharges',
    { BAT0: BATTERY, BAT1: { ...BATTERY, status: 'Full' } },
    'battery',
  ],
  ['a laptop with a mouse', { BAT0: BATTERY, mouse: { ...BATTERY, scope: 'Device' } }, 'battery'],
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

for (const [platform, program, output, source] of [
  ['darwin', 'pmset', "Now drawing from 'Battery Power'", 'battery'],
  ['darwin', 'pmset', "Now drawing from 'AC Power'", 'mains'],
  ['win32', 'powershell.exe', 'Offline\r', 'battery'],
  ['win32', 'powershell.exe', 'Online\r', 'mains'],
  ['win32', 'powershell.exe', 'Unknown', 'mains'],
  ['freebsd', 'pmset', "Now drawing from 'Battery Power'", 'mains'],
] as const) {
  test(`on ${platform} the power source is ${source} where ${program} says ${output.trim()}`, {
    skip: process.platform === 'win32' && 'NOT ON WINDOWS: the programs are scripts for sh',
  }, async (t) => {
    const bin = await mkdtemp(join(tmpdir(), 'farwharf-power-'));
    const path = process.env['PATH'];
    t.after(() => {
      process.env['PATH'] = path;
      return rm(bin, { recursive: true });
    });
    const asked = join(bin, 'asked');
    await writeFile(join(bin, program), `#!/bin/sh\necho "$@" > ${asked}\nprintf '%s\\n' "${output}"\n`, {
      mode: 0o755,
    });
    process.env['PATH'] = `${bin}:${path}`;
    assert.equal(await readPowerSource('/no/such/folder', platform), source);
    if (platform === 'darwin') assert.equal(await readFile(asked, 'utf8'), '-g batt\n');
    if (platform === 'win32') {
      const command =
        'Add-Type -AssemblyName System.Windows.Forms; [System.Windows.Forms.SystemInformation]::PowerStatus.PowerLineStatus';
      assert.equal(await readFile(asked, 'utf8'), `-NoProfile -NonInteractive -Command ${command}\n`);
    }
  });
}
