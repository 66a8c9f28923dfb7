// Brings an archive's files into a folder once, in a process of its own, and prints what it cost.
import { mkdir } from 'node:fs/promises';
import { discardStaged, stageArchive } from '../../src/workspace/extract/extract.ts';
import { applyResults, planResults } from '../../src/workspace/results/applyResults.ts';

const [archive = '', folder = ''] = process.argv.slice(2);
await mkdir(folder, { recursive: true });
const started = performance.now();
const staged = await stageArchive(archive, folder);
const unpacked = performance.now();
await planResults(staged, folder);
const { written } = await applyResults(staged, folder, new Map(), { label: 'bench', journal: `${archive}.journal` });
await discardStaged(staged);
process.stdout.write(
  JSON.stringify({
    stageSeconds: (unpacked - started) / 1000,
    seconds: (performance.now() - started) / 1000,
    files: written.length,
    peakMegabytes: process.resourceUsage().maxRSS / 1024,
  }),
);
