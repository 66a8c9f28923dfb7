// Kills the job service again and again under load, with jobs as processes of this machine, on a Slurm cluster, or both at once,
// and shows that nothing was lost. Linux only.
// Usage: node scripts/load/kills.ts [--minutes 20] [--kills 500] [--executor process|slurm|both] [--seed N]
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { AsyncDisposableStore } from '../../src/core/processes/lifetime.ts';
import { build } from '../build.ts';
import { startCluster } from '../slurm/cluster.ts';
import { processSite, runStorm, slurmSite, type StormReport } from './stormRun.ts';

const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    kills: { type: 'string', default: '500' },
    executor: { type: 'string', default: 'both' },
    seed: { type: 'string', default: '1' },
  },
});
const [minutes, kills, seed] = [Number(flags.minutes), Number(flags.kills), Number(flags.seed)];
const executors = flags.executor === 'both' ? ['process', 'slurm'] : [flags.executor];
const print = (line: string): void => void process.stdout.write(`${line}\n`);

build();
const program = resolve(import.meta.dirname, '../../dist/cli.mjs');
const folder = await mkdtemp(join(tmpdir(), 'farwharf-kills-'));
let isGood = false;
await using ended = new AsyncDisposableStore();
ended.defer(async () => {
  // What a failed run left is what its fault can be found in.
  if (isGood) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  else print(`The data remain in ${folder}`);
});
const cluster = executors.includes('slurm') ? ended.use(await startCluster(join(folder, 'cluster'))) : undefined;
print(`${kills} kills in ${minutes} minutes, executor ${executors.join(' and ')}, seed ${seed}`);
const started = performance.now();
const outcomes = await Promise.allSettled(
  executors.map((name, index) => {
    const options = { folder: join(folder, name), program };
    const site = name === 'slurm' && cluster !== undefined ? slurmSite(options, cluster) : processSite(options);
    return runStorm({ ...site, minutes, kills: Math.ceil(kills / executors.length), seed: seed + index });
  }),
);
const reports = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
for (const report of reports) show(report);
for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
const faults = reports.flatMap(({ verdict }) => verdict.faults.length + verdict.ledgerError);
isGood = faults.every((count) => count === 0);
print(`${isGood ? 'ok' : 'FAILED'} in ${((performance.now() - started) / 60_000).toFixed(1)} minutes`);
process.exitCode = isGood ? 0 : 1;

function show({ name, killed, load, verdict }: StormReport): void {
  const counts = (map: ReadonlyMap<string, number>): string =>
    [...map].map(([what, count]) => `${what} ${count}`).join(', ');
  print(`\n== ${name}`);
  print(`killed with SIGKILL    ${counts(killed)}`);
  print(
    `submissions            ${load.sent.length}, accepted ${load.accepted.size}, without an answer ${load.counts.lostAnswers} (${verdict.keptUnanswered} of them became jobs)`,
  );
  print(
    `clients                ${Object.entries(load.counts)
      .map(([what, count]) => `${what} ${count}`)
      .join(', ')}`,
  );
  print(
    `jobs at the end        ${verdict.jobs}: ${counts(verdict.states)}; ${verdict.harmed} had their own processes killed`,
  );
  print(`ledger error           ${verdict.ledgerError} micro-credits`);
  print(`faults                 ${verdict.faults.length}`);
  for (const fault of verdict.faults.slice(0, 40)) print(`  ${fault}`);
}
