// Cuts the connection to a machine over SSH, and kills either end of it, again and again under load, and shows that nothing was lost or
// doubled. Linux only.
// Usage: node scripts/load/cuts.ts [--minutes 10] [--cuts 300] [--seed N]
import { parseArgs } from 'node:util';
import { sshIsMissing } from '../../test/service/support/sshServer.ts';
import { build } from '../build.ts';
import { runCuts } from './machine/cutRun.ts';

const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    cuts: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
  },
});
const [minutes, cuts, seed] = [Number(flags.minutes), Number(flags.cuts), Number(flags.seed)];
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const counts = (map: Iterable<readonly [string, number]>): string =>
  [...map].map(([what, count]) => `${what} ${count}`).join(', ');

const missing = await sshIsMissing();
if (missing !== undefined) throw new Error(missing);
build();
print(`${cuts} cuts in ${minutes} minutes, seed ${seed}`);
const started = performance.now();
const { cut, load, commands, verdict, faults } = await runCuts({ cuts, minutes, seed });
print(`cut or killed          ${counts(cut)}`);
print(
  `submissions            ${load.sent.length}, accepted ${load.accepted.size}, without an answer ${load.counts.lostAnswers} (${verdict.keptUnanswered} of all became jobs)`,
);
print(`clients through tunnels ${counts(Object.entries(load.counts))}`);
print(`command line           ${counts(Object.entries(commands.counts))}`);
for (const [reason, count] of commands.reasons) print(`  ${count} × ${reason}`);
print(`jobs at the end        ${verdict.jobs}: ${counts(verdict.states)}`);
print(`ledger error           ${verdict.ledgerError} micro-credits`);
print(`faults                 ${faults.length}`);
for (const fault of faults.slice(0, 40)) print(`  ${fault}`);
const isGood = faults.length === 0 && verdict.ledgerError === 0;
print(`${isGood ? 'ok' : 'FAILED'} in ${((performance.now() - started) / 60_000).toFixed(1)} minutes`);
process.exitCode = isGood ? 0 : 1;
