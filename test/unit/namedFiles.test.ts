import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readCheckpoint } from '../../src/agents/records/checkpoint.ts';
import { Recording } from '../../src/agents/records/recording.ts';
import { readRagSource } from '../../src/agents/rag/sources.ts';
import { readProfiles } from '../../src/jobs/profiles/profileFile.ts';
import { readPrivateFile } from '../../src/jobs/service/hostKey.ts';
import { currentLine } from '../../src/jobs/source/currentLine.ts';
import { diskHost } from '../../src/flows/project/diskHost.ts';
import { RecordedCompletions } from '../../src/flows/run/child/recordedCompletions.ts';
import { rowsOf } from '../../src/flows/run/evals/dataRows.ts';
import { readFlowTest } from '../../src/flows/run/testing/flowTestFile.ts';
import { openUpload } from '../../src/remote/transfers/openUpload.ts';
import { restoreBackup } from '../../src/service/folders/restoreBackup.ts';
import { readConfig } from '../../src/service/serviceConfig.ts';
import { readSecretKey } from '../../src/service/jobs/secretVault.ts';
import { readCertificate } from '../../src/service/http/certificate.ts';
import { readPackageFile } from '../../src/workspace/environments/packageFile.ts';

const UPLOAD = { headers: {}, part: 'tarball', offset: 0, onProgress: undefined, isReusing: false } as const;

/** What opens a file that a person, a folder or a service named. The name of the file is in the folder. */
const DOORS: readonly (readonly [what: string, name: string, read: (path: string, folder: string) => unknown])[] = [
  ['the data set of an evaluation', 'rows.jsonl', async (path) => Array.fromAsync(rowsOf(path))],
  ['the table of an evaluation', 'rows.csv', async (path) => Array.fromAsync(rowsOf(path))],
  ['a test of a flow', 'a.flowtest.json', readFlowTest],
  ['a recording', 'recording.jsonl', async (path) => Recording.open(path)],
  ['the model calls of a recording', 'calls.jsonl', async (path) => RecordedCompletions.read(path)],
  ['a checkpoint', 'checkpoint.json', readCheckpoint],
  ['a module that a flow imports', 'module.ts', async (path) => diskHost.read(path)],
  ['a source of a retrieval index', 'notes.md', readRagSource],
  ['the profiles of a folder', 'farwharf.json', async (_, folder) => readProfiles(folder)],
  ['a list of packages', 'requirements.txt', async (_, folder) => readPackageFile(folder, 'requirements.txt')],
  [
    'a file that a traceback names',
    'train.py',
    async (file) => currentLine({ archive: 'none', path: 'train.py', line: 1 }, { file, text: undefined }),
  ],
  ['a key file', 'key', async (path) => readPrivateFile(path)],
  ['an archive that is sent', 'a.tar.gz', async (path) => openUpload(path, {}, UPLOAD)],
  ['a configuration', 'service.toml', async (path) => readConfig(path)],
  ['the key of the secrets', 'secrets.key', async (path) => readSecretKey(path, { isNew: false })],
  ['a certificate', 'cert.pem', async (cert) => readCertificate({ cert, key: cert })],
  ['a backup', 'backup.tar.gz', async (path, folder) => restoreBackup(path, join(folder, 'restored'))],
];

for (const [what, name, read] of DOORS) {
  test(`a pipe, a device and an endless file in the place of ${what} are neither waited for nor read`, {
    skip: process.platform === 'win32',
    // A limit against hangs, which are what is tested.
    timeout: 60_000,
  }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'farwharf-doors-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, name);
    const kinds: readonly [string, () => void][] = [
      ['pipe', () => assert.equal(spawnSync('mkfifo', ['-m', '600', path]).status, 0)],
      ['device', () => symlinkSync('/dev/zero', path)],
      ['endless', () => (writeFileSync(path, '', { mode: 0o600 }), truncateSync(path, 2 ** 42))],
    ];
    for (const [kind, make] of kinds) {
      make();
      const before = process.memoryUsage().rss;
      const found = await Promise.resolve(read(path, folder)).catch((error: unknown) => error);
      const isRefused = found === undefined || found instanceof Error;
      if (what !== 'an archive that is sent' || kind !== 'endless') assert.ok(isRefused, `${kind}: ${String(found)}`);
      else (found as Awaited<ReturnType<typeof openUpload>>).body.destroy();
      assert.ok(process.memoryUsage().rss - before < 400e6, `${kind} filled the memory`);
      rmSync(path);
    }
  });
}
