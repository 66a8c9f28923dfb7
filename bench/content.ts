// What submissions and results cost by content, beside `rsync -az` to and from an rsync daemon over the same connection, if rsync is
// installed: 2 GB in 20,000 files of which one of 4 KB changes; a file of 1 GB into whose middle 1 MB is inserted; a checkpoint of 2 GB
// of which the next job changes 10 MB. First submissions are measured beside the same folder sent as a whole archive.
// `--small` is a tenth of all. `--line 20mbit` slows the connection down for what follows a change, and with `--all` also for what comes
// before it (Linux, root).
// Fails if more is sent than rsync sends for the many files, or over 3 MB for the inserted one, or over 12 MB for the checkpoint. One
// piece of contents has up to 256 KB, which is allowed for few files.
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
import { parseArgs } from 'node:util';
import { RsyncDaemon, type Transfer } from './support/rsyncDaemon.ts';
import { runScript } from './support/children.ts';
import { enterOwnNetwork, limitLine, unlimitLine } from './support/slowLine.ts';

const { values } = parseArgs({
  options: { small: { type: 'boolean' }, line: { type: 'string' }, all: { type: 'boolean' } },
});
const line = values.line;
if (line !== undefined) enterOwnNetwork();
if (line !== undefined && values.all === true) limitLine(line);
const scale = values.small === true ? 0.1 : 1;
const builtCli = resolve(import.meta.dirname, '../dist/cli.mjs');
const MAX_INSERTED_BYTES = 3e6;
const MAX_CHANGED_BYTES = 300e3;
const MAX_CHECKPOINT_BYTES = 12e6;
const CHANGED_MB = 10;
const root = mkdtempSync(join(tmpdir(), 'farwharf-content-'));

/** Half text, half bytes that do not compress, as in a folder with code and data. */
function contentsOf(bytes: number, seed: string): Buffer {
  const text = createHash('sha256').update(seed).digest('hex');
  return Buffer.concat([Buffer.from(`${text}\n`.repeat(bytes / 2 / 65)), randomBytes(bytes / 2)]).subarray(0, bytes);
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

/** Shell commands that write the same checkpoint each time, and with `isChanged` other bytes into its middle. */
function checkpointScript(isChanged: boolean): string {
  const noise = (key: string): string => `openssl enc -aes-128-ctr -K ${key} -iv 0 </dev/zero 2>/dev/null`;
  const megabytes = Math.round(2000 * scale);
  const change = `${noise('02')} | dd of=out/checkpoint.bin bs=1000000 seek=${megabytes / 2} count=${CHANGED_MB} iflag=fullblock conv=notrunc status=none`;
  return `mkdir -p out\n${noise('01')} | head -c ${megabytes}000000 > out/checkpoint.bin\n${isChanged ? `${change}\n` : ''}`;
}

/** Runs something on the slow connection, if there is one. */
function onLine<T>(run: () => T): T {
  if (line === undefined || values.all === true) return run();
  limitLine(line);
  try {
    return run();
  } finally {
    unlimitLine();
  }
}

const describe = (sent: Transfer | undefined): string =>
  sent === undefined ? 'not installed' : `${(sent.bytes / 1000).toFixed(0)} KB in ${sent.seconds.toFixed(1)} s`;

const serviceLog = join(root, 'service.log');
const log = openSync(serviceLog, 'w');
const serve = spawn(process.execPath, [builtCli, 'serve', '--port', '0', '--data', join(root, 'service'), '--json'], {
  stdio: ['ignore', 'pipe', log],
});
const rsync = await RsyncDaemon.start(root);
try {
  if (serve.stdout === null) throw new Error('The service has no output.');
  const [start] = (await once(serve.stdout, 'data')) as [Buffer];
  const { url, key } = JSON.parse(start.toString()) as { readonly url: string; readonly key: string };
  const env = {
    ...process.env,
    FARWHARF_HOME: join(root, 'home'),
    FARWHARF_REMOTE_HOST: url,
    FARWHARF_API_KEY: key,
  };
  const farwharf = (...args: readonly string[]): string =>
    execFileSync(process.execPath, [builtCli, ...args], {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 1e9,
    });
  /** Returns when the job has ended, so that it does not slow down what is measured next. */
  const settle = (id: string): void => void farwharf('watch', id);

  const submit = (folder: string): Transfer & { readonly id: string } => {
    const started = performance.now();
    const receipt = JSON.parse(farwharf('submit', folder, '--script', 'run.sh', '--json')) as {
      readonly job_id: string;
      readonly sent_bytes: number;
    };
    const seconds = (performance.now() - started) / 1000;
    settle(receipt.job_id);
    return { id: receipt.job_id, bytes: receipt.sent_bytes, seconds };
  };

  /** What the service has sent of results until now. */
  const sentResults = (): number =>
    readFileSync(serviceLog, 'utf8')
      .split('\n')
      .filter((text) => text.includes('/artifacts'))
      .reduce((sum, text) => sum + Number(/"sent":(\d+)/.exec(text)?.[1] ?? 0), 0);

  const download = (id: string, into: string): Transfer => {
    const before = sentResults();
    const started = performance.now();
    farwharf('download', id, '--into', into, '--on-conflict', 'overwrite');
    return { seconds: (performance.now() - started) / 1000, bytes: sentResults() - before };
  };

  const submissions = [
    {
      name: `${(2 * scale).toFixed(1)} GB in ${Math.round(20_000 * scale)} files, one of 4 KB changed`,
      make: makeManyFiles,
      change: (folder: string) => writeFileSync(join(folder, 'part7', 'file7.dat'), randomBytes(4_096)),
      isGood: (own: Transfer, peer: Transfer | undefined) =>
        peer === undefined || own.bytes <= Math.max(peer.bytes, MAX_CHANGED_BYTES),
    },
    {
      name: `${scale} GB, 1 MB inserted in its middle`,
      make: makeLargeFile,
      change: insert,
      isGood: (own: Transfer) => own.bytes <= MAX_INSERTED_BYTES,
    },
  ];
  for (const [index, { name, make, change, isGood }] of submissions.entries()) {
    const folder = join(root, `case${index}`);
    mkdirSync(folder);
    writeFileSync(join(folder, 'run.sh'), 'true\n');
    make(folder);
    const archive = runScript('archiveSubmitOnce.ts', folder, join(root, 'whole.tar.gz'), url, key) as Transfer & {
      readonly job_id: string;
    };
    farwharf('add', archive.job_id);
    settle(archive.job_id);
    const first = submit(folder);
    const firstSync = rsync?.push(`case${index}`, `copy${index}`);
    change(folder);
    const own = onLine(() => submit(folder));
    const peer = onLine(() => rsync?.push(`case${index}`, `copy${index}`));
    process.stdout.write(
      `${name}\n  first:   farwharf ${describe(first)}, as an archive ${describe(archive)}, rsync ${describe(firstSync)}\n`,
    );
    process.stdout.write(`  changed: farwharf ${describe(own)}, rsync ${describe(peer)}\n`);
    if (!isGood(own, peer)) process.exitCode = 1;
    for (const path of [folder, join(root, `copy${index}`)]) rmSync(path, { recursive: true, force: true });
  }

  const folder = join(root, 'training');
  const peerFolder = join(root, 'peer');
  const results = join(root, 'results');
  for (const path of [folder, peerFolder, results]) mkdirSync(path);
  const train = (isChanged: boolean): string => {
    const script = checkpointScript(isChanged);
    writeFileSync(join(folder, 'run.sh'), script);
    execFileSync('sh', ['-c', script], { cwd: peerFolder });
    return submit(folder).id;
  };
  const first = download(train(false), results);
  const firstSync = rsync?.pull('peer', 'peerCopy');
  const changed = train(true);
  const own = onLine(() => download(changed, results));
  const peer = onLine(() => rsync?.pull('peer', 'peerCopy'));
  const checkpoint = readFileSync(join(results, 'out/checkpoint.bin'));
  if (!checkpoint.equals(readFileSync(join(peerFolder, 'out/checkpoint.bin')))) {
    throw new Error('The downloaded checkpoint is not the one that the job wrote.');
  }
  process.stdout.write(`results: a checkpoint of ${2 * scale} GB, of which ${CHANGED_MB} MB changed\n`);
  process.stdout.write(`  first:   farwharf ${describe(first)}, rsync ${describe(firstSync)}\n`);
  process.stdout.write(`  changed: farwharf ${describe(own)}, rsync ${describe(peer)}\n`);
  if (own.bytes > MAX_CHECKPOINT_BYTES) process.exitCode = 1;
} finally {
  rsync?.stop();
  serve.kill('SIGTERM');
  await once(serve, 'exit');
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
