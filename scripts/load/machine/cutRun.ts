import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { JobLedger } from '../../../src/jobs/ledger/ledger.ts';
import { Scratch } from '../../../test/service/commandLine.ts';
import { SshServer } from '../../../test/service/support/sshServer.ts';
import { randomFrom } from '../../../test/random.ts';
import { Load } from '../load.ts';
import { judge, type Verdict } from '../verdict.ts';
import { Witness } from '../witness.ts';
import { CommandClients } from './commandClients.ts';
import { cutStorm } from './cutStorm.ts';
import { processesIn } from './foundProcesses.ts';
import { LineCutter } from './lineCutter.ts';
import { MachineSite } from './machineSite.ts';

const LOAD = { senders: 2, readers: 2, pauseMs: 1_000, maxUnfinished: 20, machineClasses: [] };
const COMMANDS = 2;
const ORPHAN_WAIT_MS = 20_000;
const POLL_MS = 200;

export interface CutRun {
  readonly cuts: number;
  readonly minutes: number;
  readonly seed: number;
}

export interface CutReport {
  readonly cut: ReadonlyMap<string, number>;
  readonly load: Load;
  readonly commands: Pick<CommandClients, 'counts' | 'reasons'>;
  readonly verdict: Verdict;
  readonly faults: readonly string[];
}

/**
 * Connects a machine over SSH, puts load on its service through tunnels and with the command line tool, cuts the connection and kills either end again
 * and again, and judges what is left.
 */
export async function runCuts({ cuts, minutes, seed }: CutRun): Promise<CutReport> {
  await using witness = await Witness.start();
  await using scratch = await Scratch.create();
  await using server = await SshServer.create();
  await server.start(['MaxStartups 100', 'MaxSessions 50']);
  await using line = await LineCutter.start(server.port);
  using site = await MachineSite.connect(scratch, server, line);
  const random = randomFrom(seed);
  const load = new Load({ ...LOAD, site, witness, random: randomFrom(seed + 1_000) });
  const commands = new CommandClients({ scratch, site, witness, load, random: randomFrom(seed + 2_000) });
  const end = new AbortController();
  const running = [load.run(end.signal), commands.run(COMMANDS, end.signal)];
  let cut: ReadonlyMap<string, number>;
  try {
    cut = await cutStorm({ site, server, line, commands, clientRoot: scratch.root, random, cuts, minutes });
  } finally {
    line.heal();
    end.abort();
    await Promise.allSettled(running);
  }
  const { signal } = new AbortController();
  await site.untilReachable(signal);
  const verdict = await judge(site, load, witness, signal);
  const faults = [
    ...verdict.faults,
    ...commands.faults,
    ...(await compareLedgers(scratch, site, commands, load, verdict)),
  ];
  site[Symbol.dispose]();
  const refusal = await site.remove();
  if (refusal !== undefined) faults.push(`the machine could not be removed: ${refusal}`);
  const left = await readdir(server.home, { recursive: true });
  if (left.length > 0) faults.push(`the machine still has ${left.slice(0, 10).join(', ')}`);
  // Connections that commands share stay for ten minutes, or until the machine ends them.
  const isShared = (command: string): boolean => command.endsWith('[mux]');
  faults.push(...(await orphans([scratch.root, server.home], isShared)));
  await server.stop();
  faults.push(...(await orphans([scratch.root, server.root], () => false)));
  return { cut, load, commands, verdict, faults };
}

/** What the users' job lists have differently from the service. */
async function compareLedgers(
  scratch: Scratch,
  site: MachineSite,
  { homes }: CommandClients,
  { sent }: Load,
  { endings }: Verdict,
): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const home of homes) {
    const env = { FARWHARF_HOME: home, FARWHARF_REMOTE_HOST: site.name };
    const listed = await scratch.run(['jobs', '--limit', '1000', '--json'], { env });
    if (listed.exit !== 0) faults.push(`the jobs of ${home} cannot be listed: ${listed.stderr}`);
    const ledger = new JobLedger(home);
    const ids = new Set<string>();
    for (const { id, jobId, state, project } of ledger.list()) {
      if (jobId === null) continue; // it was killed before it knew
      if (ids.has(jobId)) faults.push(`${jobId} is twice in the list of ${home}`);
      ids.add(jobId);
      const expected = endings.get(jobId);
      if (state !== expected) faults.push(`${id} (${project}) is listed as ${state}, and ${jobId} is ${expected}`);
    }
    ledger.dispose();
    const lost = sent.filter(({ id, name }) => id !== undefined && name.startsWith(`${nameOf(home)}-`) && !ids.has(id));
    faults.push(...lost.map(({ name, id }) => `${id} of ${name} is not in the list of ${home}`));
  }
  return faults;
}

function nameOf(home: string): string {
  return home.slice(home.lastIndexOf('/') + 1);
}

async function orphans(
  folders: readonly string[],
  isExpected: (command: string) => boolean,
): Promise<readonly string[]> {
  const find = () =>
    folders
      .flatMap((folder) => processesIn(folder))
      .filter(({ name, command }) => name !== 'sshd' && !isExpected(command));
  for (const deadline = performance.now() + ORPHAN_WAIT_MS; performance.now() < deadline; await sleep(POLL_MS)) {
    if (find().length === 0) return [];
  }
  return find().map(({ pid, command }) => `an orphan: ${pid} ${command}`);
}
