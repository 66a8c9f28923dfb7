import { setTimeout as sleep } from 'node:timers/promises';
import { assertNever } from '../../../src/core/errors.ts';
import { pick, type Random } from '../../../test/random.ts';
import type { SshServer } from '../../../test/service/support/sshServer.ts';
import type { CommandClients } from './commandClients.ts';
import { killOne, processesIn } from './foundProcesses.ts';
import type { LineCutter } from './lineCutter.ts';
import type { MachineSite } from './machineSite.ts';

export interface CutStormOptions {
  readonly site: MachineSite;
  readonly server: SshServer;
  readonly line: LineCutter;
  readonly commands: CommandClients;
  /** The folder whose path is in the command line of each SSH client. */
  readonly clientRoot: string;
  readonly random: Random;
  readonly cuts: number;
  readonly minutes: number;
}

// More than the largest message, so that most cuts are inside of one.
const CUT_WITHIN_BYTES = 60_000;
// Keys are exchanged and the user is authenticated in fewer bytes.
const HANDSHAKE_BYTES = 9_000;
const HANDSHAKE_MS = 5_000;

/** Half of all are cuts of the line itself. */
const KINDS = [
  'line',
  'line',
  'line in a message',
  'line in a message',
  'line in a handshake',
  'line in a handshake',
  'ssh client',
  'sshd session',
  'all sshd sessions',
  'machine’s end of a tunnel',
  'service',
  'client program',
] as const;

/** Cuts connections and kills processes at both ends at random instants. @returns how often what was cut or killed. */
export async function cutStorm(options: CutStormOptions): Promise<ReadonlyMap<string, number>> {
  const { random, cuts, minutes } = options;
  const counts = new Map<string, number>();
  const deadline = performance.now() + minutes * 60_000;
  for (let cut = 0; cut < cuts; ) {
    const remainingMs = Math.max(0, deadline - performance.now());
    await sleep(random() * 2 * (remainingMs / (cuts - cut)));
    const kind = pick(KINDS, random) ?? 'line';
    if (!(await cutOnce(kind, options))) continue; // there was none, as between two connections
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    cut += 1;
  }
  return counts;
}

async function cutOnce(kind: (typeof KINDS)[number], options: CutStormOptions): Promise<boolean> {
  const { site, server, line, commands, clientRoot, random } = options;
  const bytes = (most: number): number => Math.floor(random() * most);
  switch (kind) {
    case 'line':
      return line.cut() > 0;
    case 'line in a message':
      return line.cutAfter(bytes(CUT_WITHIN_BYTES)) > 0;
    case 'line in a handshake': {
      line.cut(); // what makes a new connection
      const isCut = line.cutNew(bytes(HANDSHAKE_BYTES)).then(() => true);
      return Promise.race([isCut, sleep(HANDSHAKE_MS, false)]);
    }
    case 'ssh client':
      return killOne(
        processesIn(clientRoot).filter(({ name }) => name === 'ssh'),
        random,
      );
    case 'sshd session':
      return killOne(await server.sessions(), random);
    case 'all sshd sessions': {
      const isThere = (await server.sessions()).length > 0;
      await server.cut();
      return isThere;
    }
    case 'machine’s end of a tunnel':
      return killOne(
        processesIn(site.root).filter(({ command }) => command.includes(' attach ')),
        random,
      );
    case 'service': {
      const isThere = site.pid !== undefined;
      await site.end('SIGKILL');
      return isThere;
    }
    case 'client program':
      return commands.kill();
    default:
      return assertNever(kind);
  }
}
