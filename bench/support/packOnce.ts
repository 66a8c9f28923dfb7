// Selects and packs a folder once, in a process of its own, and prints what it cost.
// Usage: node packOnce.ts <folder> <archive> [segmented]: in segments as submits do, or as one stream.
import { createHash } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { packSelection } from '../../src/workspace/pack/pack.ts';
import { selectFiles } from '../../src/workspace/select/selection.ts';

const [root = '', dest = '', form] = process.argv.slice(2);
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const started = performance.now();
const selection = await selectFiles(root, { isTrusted: true });
const selected = performance.now();
const digest = createHash('sha256');
const { bytes } = await packSelection(selection, dest, { digest, isSegmented: form === 'segmented' });
process.stdout.write(
  JSON.stringify({
    selectSeconds: (selected - started) / 1000,
    seconds: (performance.now() - started) / 1000,
    bytes,
    sha256: digest.digest('hex'),
    peakMegabytes: process.resourceUsage().maxRSS / 1024,
    blockedMs: delay.max / 1e6 - 5,
  }),
);
