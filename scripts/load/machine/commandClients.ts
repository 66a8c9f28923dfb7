import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { jsonLines, type Scratch } from '../../../test/service/commandLine.ts';
import { built } from '../../../test/service/support/built.ts';
import { pick, type Random } from '../../../test/random.ts';
import { randomKind, scriptOf } from '../jobKind.ts';
import type { Load, SentJob } from '../load.ts';
import type { Witness } from '../witness.ts';
import type { MachineSite } from './machineSite.ts';

const PAUSE_MS = 500;

interface CommandOptions {
  readonly scratch: Scratch;
  readonly site: MachineSite;
  readonly witness: Witness;
  readonly load: Load;
  readonly random: Random;
}

/** People who submit with the command line tool, one job after the other, each with a home folder of their own. */
export class CommandClients {
  /** What no user should see. */
  readonly faults: string[] = [];
  readonly homes: string[] = [];
  /** With what the commands that failed ended, and how many of them. */
  readonly reasons = new Map<string, number>();
  readonly counts = { commands: 0, succeeded: 0, failed: 0, killed: 0 };
  readonly #options: CommandOptions;
  readonly #running = new Set<ChildProcess>();

  constructor(options: CommandOptions) {
    this.#options = options;
  }

  /** Continues until the signal, and waits for the last commands. */
  async run(count: number, signal: AbortSignal): Promise<void> {
    const submitAll = async (number: number): Promise<void> => {
      const home = await this.#options.site.addHome(`user-${number}`);
      this.homes.push(home);
      for (let job = 0; !signal.aborted; job += 1) {
        await this.#submit(home, `user-${number}-${job}`);
        await sleep(PAUSE_MS * this.#options.random(), undefined, { signal }).catch(() => {});
      }
    };
    await Promise.all(Array.from({ length: count }, (_, number) => submitAll(number)));
  }

  /** Kills one of the programs that run. @returns whether there was one. */
  kill(): boolean {
    const child = pick([...this.#running], this.#options.random);
    if (child === undefined) return false;
    this.#running.delete(child);
    this.counts.killed += 1;
    return child.kill('SIGKILL');
  }

  async #submit(home: string, name: string): Promise<void> {
    const { scratch, site, witness, load, random } = this.#options;
    let kind = randomKind(random);
    while (!kind.isEnding) kind = randomKind(random);
    const job: SentJob = { name, kind, isCancelAsked: false, isCancelAnswered: false, isHarmed: false };
    load.sent.push(job);
    const folder = await scratch.folder(name, { 'job.sh': scriptOf(kind, name, witness) });
    const flags = ['--script', 'job.sh', '--project', name, '--max-runtime', String(kind.maxRuntime)];
    const child = spawn(
      process.execPath,
      [built('cli.mjs'), 'submit', folder, ...flags, '--watch', '--download', '--json'],
      {
        env: { ...process.env, FARWHARF_HOME: home, FARWHARF_REMOTE_HOST: site.name },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    this.#running.add(child);
    let [stdout, stderr] = ['', ''];
    child.stderr.setEncoding('utf8').on('data', (more: string) => (stderr += more));
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      stdout += more;
      const [, id] = /"job_id":"([0-9a-f]+)"/.exec(stdout) ?? [];
      if (id === undefined || job.id !== undefined) return;
      job.id = id;
      load.accepted.set(id, job);
    });
    await once(child, 'close');
    this.counts.commands += 1;
    if (!this.#running.delete(child)) return; // it was killed
    const exit = child.exitCode;
    this.counts[exit === 0 ? 'succeeded' : 'failed'] += 1;
    if (exit === null) this.faults.push(`${name}: the command ended by itself: ${stderr.slice(-300)}`);
    if (exit !== 0) {
      const reason = `exit ${exit}: ${stderr
        .trim()
        .split('\n')
        .at(-1)
        ?.replaceAll(/[0-9a-f]{8,}|user-[\d-]+/g, 'ID')}`;
      this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + 1);
      return;
    }
    const text = jsonLines(stdout)
      .map(({ data }) => stdoutOf(data))
      .join('');
    if (kind.exitCode !== 0) this.faults.push(`${name}: the command succeeded with a job that fails`);
    if (text !== kind.output) this.faults.push(`${name}: the command printed ${JSON.stringify(text.slice(0, 200))}`);
  }
}

function stdoutOf(data: unknown): string {
  const { stream, text } = (data ?? {}) as { stream?: string; text?: string };
  return stream === 'stdout' ? (text ?? '') : '';
}
