// Bringing results home: unpacking, checking, comparing and moving into place, against `tar xzf` (GNU tar and gzip), which only
// unpacks, on the same archives in the same run.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mkdirSync, rmSync } from 'node:fs';
import { median, runScript, secondsOf } from './support/children.ts';
import { writeLargeFiles, writeMixedTree, writeSmallFiles } from './support/mixedTree.ts';

const RUNS = 3;

interface Extracted {
  readonly stageSeconds: number;
  readonly seconds: number;
  readonly files: number;
  readonly peakMegabytes: number;
}

interface Case {
  readonly name: string;
  readonly write: (root: string) => Promise<void>;
  /** Of `tar xzf`'s speed. */
  readonly target: number | undefined;
}

const CASES: readonly Case[] = [
  { name: '8 large files, 1 GB', write: (root) => writeLargeFiles(root, 8, 1e9), target: 1 },
  { name: '20,000 small files, 80 MB', write: (root) => writeSmallFiles(root, 20_000, 80e6), target: 0.5 },
  { name: '20,000 mixed files, 2 GB', write: (root) => writeMixedTree(root, 20_000, 2e9), target: undefined },
];

let isGood = true;
for (const { name, write, target } of CASES) {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-bench-'));
  try {
    const tree = join(folder, 'tree');
    await write(tree);
    const archive = join(folder, 'archive.tar.gz');
    runScript('packOnce.ts', tree, archive);
    rmSync(tree, { recursive: true });
    const ours: Extracted[] = [];
    const peers: number[] = [];
    const into = join(folder, 'into');
    for (let run = 0; run < RUNS; run++) {
      ours.push(runScript('extractOnce.ts', archive, into) as Extracted);
      rmSync(into, { recursive: true });
      mkdirSync(into);
      peers.push(secondsOf('tar', 'xzf', archive, '-C', into));
      rmSync(into, { recursive: true });
    }
    const seconds = median(ours.map((run) => run.seconds));
    const ratio = median(peers) / seconds;
    const peak = Math.max(...ours.map(({ peakMegabytes }) => peakMegabytes));
    process.stdout.write(
      `extract ${name} | farwharf ${seconds.toFixed(2)} s in place (${median(ours.map((run) => run.stageSeconds)).toFixed(2)} s unpacked and checked) | ` +
        `tar xzf ${median(peers).toFixed(2)} s | speed ratio ${ratio.toFixed(2)}${target === undefined ? '' : ` (target >= ${target.toFixed(2)})`} | ` +
        `peak RSS ${peak.toFixed(0)} MB (target < 200)\n`,
    );
    isGood &&= ratio >= (target ?? 0) && peak < 200;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
process.exitCode = isGood ? 0 : 1;
