import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { findProgram } from '../../../src/core/processes/findProgram.ts';
import { readInspection } from '../../../src/machines/install/inspection.ts';
import {
  attachScript,
  clusterScript,
  deleteScript,
  dismantleScript,
  inspectScript,
  PLACE_NODE,
  uploadScript,
} from '../../../src/machines/install/scripts.ts';
import { shellFailure } from '../../../src/machines/ssh/sshFailure.ts';

const BUILD = 'a'.repeat(64);
const SCRIPTS = {
  inspect: inspectScript('nonce'),
  upload: uploadScript('nonce', { destination: 'node', size: 1, sha256: BUILD, check: PLACE_NODE }),
  attach: attachScript('nonce', BUILD, '/opt/my node/bin/node'),
  cluster: clusterScript('nonce', BUILD, '/opt/my node/bin/node', true),
  dismantle: dismantleScript('nonce', BUILD, true),
  delete: deleteScript('nonce'),
};

test('scripts pass through every login shell unchanged', () => {
  const shells = ['sh', 'bash', 'dash', 'zsh', 'fish', 'csh', 'tcsh'].flatMap(
    (name) => findProgram(name, process.env['PATH'] ?? '') ?? [],
  );
  for (const [name, script] of Object.entries(SCRIPTS)) {
    assert.doesNotMatch(script, /['\\!\n]/, name);
    for (const shell of shells) {
      // `-n` only parses; printf shows what the inner shell would have received.
      const passed = execFileSync(shell, ['-c', `printf %s '${script}'`], { encoding: 'utf8' });
      assert.equal(passed, script, `${name} through ${shell}`);
    }
    execFileSync('sh', ['-n', '-c', script]);
  }
});

test('an inspection changes nothing, and reads this machine', { skip: process.platform === 'win32' }, () => {
  const home = mkdtempSync(join(tmpdir(), 'farwharf-home-'));
  try {
    const env = { PATH: process.env['PATH'] ?? '', HOME: home };
    const output = execFileSync('sh', ['-c', SCRIPTS.inspect], { encoding: 'utf8', env });
    const inspection = readInspection(output, Date.now());
    assert.equal(inspection.isWritable, true);
    assert.ok(inspection.cores > 0 && (inspection.freeBytes ?? 0) > 0);
    assert.equal(inspection.clockAheadMs, 0);
    assert.deepEqual(inspection.builds, []);
    assert.deepEqual(readdirSync(home), []);
  } finally {
    rmSync(home, { recursive: true });
  }
});

test('what jobs made read-only is deleted too', { skip: process.platform === 'win32' }, () => {
  const home = mkdtempSync(join(tmpdir(), 'farwharf-home-'));
  // Permissions do not stop root.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  try {
    if (user.uid !== undefined) chownSync(home, user.uid, user.gid);
    const env = { PATH: process.env['PATH'] ?? '', HOME: home };
    const place = '"$HOME/.local/share/farwharf-service/environments/a/lib"';
    const make = `mkdir -p ${place}; touch ${place}/x.py; chmod -R a-w "$HOME/.local/share/farwharf-service/environments"`;
    execFileSync('sh', ['-c', make], { env, ...user });
    const output = execFileSync('sh', ['-c', SCRIPTS.delete], { encoding: 'utf8', env, ...user });
    assert.match(output, /nonce deleted/);
    assert.deepEqual(readdirSync(join(home, '.local/share')), []);
  } finally {
    rmSync(home, { recursive: true });
  }
});

test('what another user has put in the place of the folder is neither run nor changed', {
  skip: process.getuid?.() !== 0 && 'only root can give files away',
}, () => {
  const home = mkdtempSync(join(tmpdir(), 'farwharf-home-'));
  const user = { uid: 65_534, gid: 65_534 };
  try {
    // As on a shared scratch disk that XDG_DATA_HOME names.
    chmodSync(home, 0o1777);
    const entry = join(home, 'farwharf-service/versions', BUILD, 'machineService.mjs');
    mkdirSync(dirname(entry), { recursive: true });
    writeFileSync(entry, '');
    const proof = join(home, 'proof');
    writeFileSync(join(home, 'planted'), `#!/bin/sh\ntouch ${proof}\necho v24.1.0\n`, { mode: 0o755 });
    writeFileSync(join(home, 'farwharf-service/node'), join(home, 'planted'));
    const env = { PATH: process.env['PATH'] ?? '', HOME: home, XDG_DATA_HOME: home };
    const before = readdirSync(home, { recursive: true });
    for (const [name, script] of Object.entries(SCRIPTS)) {
      const { status, stdout, stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8', env, input: '', ...user });
      assert.deepEqual([status, stdout], [91, ''], name);
      assert.equal(
        shellFailure('box', stderr, 91).message,
        `${home}/farwharf-service on box belongs to another user there, who could decide what runs as you, so nothing in it was used. Set XDG_DATA_HOME there to a folder of your own, and connect again.`,
      );
    }
    assert.deepEqual(readdirSync(home, { recursive: true }), before);
  } finally {
    rmSync(home, { recursive: true });
  }
});

test('an inspection reports a wrong clock, and skips what is old, damaged or not a plain path', () => {
  const output = [
    'motd without a key',
    'system=Linux',
    'time=7200',
    `build=${BUILD}`,
    'build=../..',
    'node=v20.19.0 /usr/bin/node',
    'node= /usr/bin/broken',
    'node=v22.18.0 /opt/node $(rm -rf)/bin/node',
    'node=v24.1.0 /opt/my node/bin/node',
    'node=v24.1.0 /opt/my node/bin/node',
  ].join('\n');
  const { clockAheadMs, builds, nodes, system, freeBytes } = readInspection(output, 0);
  assert.deepEqual(
    { clockAheadMs, builds, nodes, system, freeBytes },
    {
      clockAheadMs: 7_200_000,
      builds: [BUILD],
      nodes: ['/opt/my node/bin/node'],
      system: 'Linux',
      freeBytes: undefined,
    },
  );
});
