import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../random.ts';
import { AGENTS, type AgentReport, type Effect, ROUNDS, TOOLS } from '../agentWork.ts';
import type { Kill, Life, Place } from '../campaign.ts';
import { KilledProcess } from '../process.ts';

const PROGRAM = join(import.meta.dirname, '../agentProcess.ts');
// Each process prints a line when it is ready, and two for each call.
const LINES = 1 + 2 * AGENTS.length * ROUNDS * TOOLS.length;

/** Agents whose tools have effects, with requests and attempts that fail: each effect comes once, or is reported as unknown. */
export const agents: Place = {
  name: 'agents',
  begin: async (folder, random) => new AgentsLife(folder, random),
};

class AgentsLife implements Life {
  readonly #folder: string;
  readonly #random: Random;
  #works = 0;
  /** The effects that the ended flows were to have. Only those of idempotent tools may be repeated. */
  readonly counts = { 'effects once': 0, unknown: 0, doubled: 0, lost: 0, 'repeated by an idempotent tool': 0 };

  constructor(folder: string, random: Random) {
    this.#folder = folder;
    this.#random = random;
    this.#begin();
  }

  async kill(): Promise<Kill> {
    const work = this.#start();
    await work.untilLines(1 + Math.floor(this.#random() * LINES * 0.6));
    await sleep(this.#random() * 30);
    await work.kill();
    assert.ok(work.isKilled || work.exitCode === 0, work.errors);
    const begun = work.lines.filter((line) => line.startsWith('begun ')).length;
    const ended = work.lines.filter((line) => line.startsWith('ended ')).length;
    if (!work.isKilled) this.#check();
    return { isMidWrite: work.isKilled && begun > ended };
  }

  async finish(): Promise<void> {
    const work = this.#start();
    await work.closed();
    assert.equal(work.exitCode, 0, work.errors);
    this.#check();
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  get #work(): string {
    return join(this.#folder, String(this.#works));
  }

  #begin(): void {
    this.#works += 1;
    mkdirSync(this.#work, { recursive: true });
  }

  #start(): KilledProcess {
    const seed = String(Math.floor(this.#random() * 2 ** 31));
    return new KilledProcess(process.execPath, [PROGRAM, this.#work, seed]);
  }

  /** After the end of a flow, which ends the work. */
  #check(): void {
    const { unknown } = JSON.parse(readFileSync(join(this.#work, 'report.json'), 'utf8')) as AgentReport;
    const lines = readFileSync(join(this.#work, 'effects.jsonl'), 'utf8').split('\n').filter(Boolean);
    const effects = Map.groupBy(
      lines.map((line) => JSON.parse(line) as Effect),
      ({ key }) => key,
    );
    for (const agent of AGENTS) {
      for (const name of TOOLS) {
        for (let round = 0; round < ROUNDS; round += 1) {
          const key = `${agent}-${round}-${name}`;
          const reports = unknown.filter((text) => text.includes(`"${key}"`));
          const found = effects.get(key) ?? [];
          this.#count(name, { times: found.length, isUnknown: reports.length > 0 });
          for (const text of reports) assert.match(text, /whether it took effect is unknown/);
          if (name === 'put') {
            assert.equal(reports.length, 0, `${key} is idempotent`);
            assert.equal(new Set(found.map(({ callId }) => callId)).size, 1, `${key} has several ids`);
          } else if (reports.length === 0) assert.equal(found.length, 1, `${key} took effect ${found.length} times`);
          else assert.ok(found.length <= 1, `${key} took effect ${found.length} times, and is reported as unknown`);
        }
      }
    }
    this.#begin();
  }

  #count(name: string, { times, isUnknown }: { readonly times: number; readonly isUnknown: boolean }): void {
    const { counts } = this;
    if (isUnknown) counts.unknown += 1;
    else if (times === 1) counts['effects once'] += 1;
    else if (times === 0) counts.lost += 1;
    else if (name === 'put') counts['repeated by an idempotent tool'] += 1;
    if (times > 1 && name !== 'put') counts.doubled += 1;
  }
}
