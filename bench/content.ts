// What a second submission of a folder sends and how long it takes, by content against `rsync -az` to another folder of this machine (as
// over ssh: `-e` with a local command), if rsync is installed: 2 GB in 20,000 files of which one of 4 KB changes, and a file of 1 GB into
// whose middle 1 MB is inserted. `--small` is a tenth of both. Fails if more is sent than rsync sends for the many files, or if more than
// 3 MB are sent for the inserted one. One piece of contents has up to 256 KB, which is allowed for few files.
import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const scale = process.argv.includes('--small') ? 0.1 : 1;
const builtCli = resolve(import.meta.dirname, '../dist/cli.mjs');
const MAX_INSERTED_BYTES = 3e6;
const MAX_CHANGED_BYTES = 300e3;
const root = mkdtempSync(join(tmpdir(), 'farwharf-content-'));

interface Sent {
  readonly bytes: number;
  readonly seconds: number;
}

/** Half text, half bytes that do not compress, as in a folder with code and data. */
function contentsOf(bytes: number, seed: string): Buffer {
  const line = createHash('sha256').update(seed).digest('hex');
  return Buffer.concat([Buffer.from(`${line}\n`.repeat(bytes / 2 / 65)), randomBytes(bytes / 2)]).subarray(0, bytes);
}

function makeManyFiles(folder: string): void {
  const files = Math.round(20_000 * scale);
  for (let index = 0; index < files; index += 1) {
    const part = join(folder, `part${index % 200}`);
    if (index < 200) mkdirSync(part, { recursive: true });
    // One file in twenty is large, and all together have 2 GB.
    const bytes = index % 20 === 0 ? 1_900_000 : 5_000;
    writeFileSync(join(part, `file${index}.dat`), contentsOf(bytes, String(index)));
  }
}

function makeLargeFile(folder: string): void {
  const file = openSync(join(folder, 'large.bin'), 'w');
  for (let index = 0; index < Math.round(1000 * scale); index += 1) writeSync(file, randomBytes(1_000_000));
  closeSync(file);
}

function insert(folder: string): void {
  const path = join(folder, 'large.bin');
  const bytes = readFileSync(path);
  const middle = Math.floor(bytes.length / 2) + 12_345;
  writeFileSync(
    `${path}.new`,
    Buffer.concat([bytes.subarray(0, middle), randomBytes(1_000_000), bytes.subarray(middle)]),
  );
  renameSync(`${path}.new`, path);
}

function submit(folder: string, env: NodeJS.ProcessEnv): Sent {
  const started = performance.now();
  const args = [builtCli, 'submit', folder, '--script', 'run.sh', '--json'];
  const receipt = JSON.parse(
    execFileSync(process.execPath, args, {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 1e9,
    }),
  ) as { readonly sent_bytes: number };
  return { bytes: receipt.sent_bytes, seconds: (performance.now() - started) / 1000 };
}

/** Undefined without rsync. */
function sync(folder: string, copy: string): Sent | undefined {
  const started = performance.now();
  try {
    const shell = join(root, 'local.sh');
    writeFileSync(shell, '#!/bin/sh\nshift\nexec "$@"\n', { mode: 0o755 });
    const args = ['-az', '--stats', '-e', shell, `${folder}/`, `here:${copy}/`];
    const stats = execFileSync('rsync', args, { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } });
    const sent = /Total bytes sent: ([\d,]+)/.exec(stats)?.[1] ?? '';
    return { bytes: Number(sent.replaceAll(',', '')), seconds: (performance.now() - started) / 1000 };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

const describe = (sent: Sent | undefined): string =>
  sent === undefined ? 'not installed' : `${(sent.bytes / 1000).toFixed(0)} KB in ${sent.seconds.toFixed(1)} s`;

const serve = spawn(process.execPath, [builtCli, 'serve', '--port', '0', '--data', join(root, 'service'), '--json'], {
  stdio: ['ignore', 'pipe', 'ignore'],
});
try {
  const [line] = (await once(serve.stdout, 'data')) as [Buffer];
  const { url, key } = JSON.parse(line.toString()) as { readonly url: string; readonly key: string };
  const home = join(root, 'home');
  const env = { ...process.env, FARWHARF_HOME: home, FARWHARF_REMOTE_HOST: url, FARWHARF_API_KEY: key };
  const cases = [
    {
      name: `${(2 * scale).toFixed(1)} GB in ${Math.round(20_000 * scale)} files, one of 4 KB changed`,
      make: makeManyFiles,
      change: (folder: string) => writeFileSync(join(folder, 'part7', 'file7.dat'), randomBytes(4_096)),
      isGood: (own: Sent, peer: Sent | undefined) =>
        peer === undefined || own.bytes <= Math.max(peer.bytes, MAX_CHANGED_BYTES),
    },
    {
      name: `${scale} GB, 1 MB inserted in its middle`,
      make: makeLargeFile,
      change: insert,
      isGood: (own: Sent) => own.bytes <= MAX_INSERTED_BYTES,
    },
  ];
  for (const [index, { name, make, change, isGood }] of cases.entries()) {
    const folder = join(root, `case${index}`);
    mkdirSync(folder);
    writeFileSync(join(folder, 'run.sh'), 'true\n');
    make(folder);
    const copy = join(root, `copy${index}`);
    const first = submit(folder, env);
    const firstSync = sync(folder, copy);
    change(folder);
    const own = submit(folder, env);
    const peer = sync(folder, copy);
    process.stdout.write(`${name}\n  first:   farwharf ${describe(first)}, rsync ${describe(firstSync)}\n`);
    process.stdout.write(`  changed: farwharf ${describe(own)}, rsync ${describe(peer)}\n`);
    if (!isGood(own, peer)) process.exitCode = 1;
    for (const path of [folder, copy]) rmSync(path, { recursive: true, force: true });
  }
} finally {
  serve.kill('SIGTERM');
  await once(serve, 'exit');
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
