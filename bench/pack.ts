// Packing 2 GB in 20,000 files into a .tar.gz, against `tar czf` (GNU tar and gzip) on the same tree in the same run.
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runScript, secondsOf } from './support/children.ts';
import { writeMixedTree } from './support/mixedTree.ts';

const FILES = 20_000;
const BYTES = 2e9;

interface Packed {
  readonly selectSeconds: number;
  readonly seconds: number;
  readonly bytes: number;
  readonly sha256: string;
  readonly peakMegabytes: number;
  readonly blockedMs: number;
}

const folder = await mkdtemp(join(tmpdir(), 'farwharf-bench-'));
try {
  const tree = join(folder, 'tree');
  await writeMixedTree(tree, FILES, BYTES);
  const first = runScript('packOnce.ts', tree, join(folder, 'first.tar.gz')) as Packed;
  const peerSeconds = secondsOf('tar', 'czf', join(folder, 'peer.tar.gz'), '-C', tree, '.');
  const peerBytes = (await stat(join(folder, 'peer.tar.gz'))).size;
  const second = runScript('packOnce.ts', tree, join(folder, 'second.tar.gz')) as Packed;
  const seconds = Math.max(first.seconds, second.seconds);
  const peak = Math.max(first.peakMegabytes, second.peakMegabytes);
  process.stdout.write(
    `pack 2 GB, 20,000 files | farwharf ${first.seconds.toFixed(1)} and ${second.seconds.toFixed(1)} s (selecting ${first.selectSeconds.toFixed(1)} s of it) | ` +
      `tar czf ${peerSeconds.toFixed(1)} s | speed ratio ${(peerSeconds / seconds).toFixed(2)} (target >= 1.60)\n` +
      `pack 2 GB, 20,000 files | farwharf ${first.bytes} bytes | tar czf ${peerBytes} bytes | size ratio ${(first.bytes / peerBytes).toFixed(4)} (target <= 1.00)\n` +
      `pack 2 GB, 20,000 files | peak RSS ${peak.toFixed(0)} MB (target < 200) | event loop blocked at most ${first.blockedMs.toFixed(0)} ms (target < 50) | ` +
      `packed twice: ${first.sha256 === second.sha256 ? 'identical bytes' : 'DIFFERENT BYTES'}\n`,
  );
  const isGood =
    peerSeconds / seconds >= 1.6 && first.bytes <= peerBytes && peak < 200 && first.sha256 === second.sha256;
  process.exitCode = isGood ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
