import { createHash } from 'node:crypto';
import { messageOf } from '../../../src/core/errors.ts';
import type { Fault, FaultType } from './faultyLine.ts';
import { FaultyProxy } from './faultyProxy.ts';
import type { FaultySite } from './faultySite.ts';
import { messagesOf, type Outcome, type Transfer, TRANSFERS } from './faultyTransfers.ts';

/** How the tries of one fault in one transfer came out. */
export interface Tally {
  readonly transfer: Transfer['name'];
  readonly type: FaultType;
  tries: number;
  recovered: number;
  /** Failed, with a clear sentence and nothing left. */
  failed: number;
  readonly sentences: Set<string>;
  readonly violations: string[];
}

interface Options {
  /** How many percents of a transfer each fault strikes at; 101 is each of them. */
  readonly places: number;
  readonly seed: number;
}

const AT_ONCE = 6;
// A busy machine may hold the test itself up for longer than a short limit lasts.
const IDLE_SECONDS = [1, 8, 60];
// A transfer that can resume does so; results are requested again by the client.
const RECOVERING: ReadonlySet<Transfer['name']> = new Set(['upload', 'answer', 'events']);
/** More than either side sends before its first byte of HTTP. */
const HANDSHAKE_BYTES = 2_000;
const SENTENCE = /^[A-Z].*[^.]\.$/s;
const REMEDY = /again|Check|Resubmit/;

/** Faults at many places of each transfer of a site. */
export class FaultCampaign {
  readonly #site: FaultySite;
  readonly #options: Options;

  constructor(site: FaultySite, options: Options) {
    this.#site = site;
    this.#options = options;
  }

  async run(types: readonly FaultType[], transfers: readonly Transfer[] = TRANSFERS): Promise<Tally[]> {
    const tallies: Tally[] = [];
    const work: (() => Promise<void>)[] = [];
    for (const transfer of transfers) {
      const total = await this.#bytesOf(transfer);
      for (const type of types) {
        const tally = { transfer: transfer.name, type, tries: 0, recovered: 0, failed: 0 };
        const row: Tally = { ...tally, sentences: new Set(), violations: [] };
        tallies.push(row);
        for (const percent of percents(this.#options, transfer.name, type)) {
          const after = Math.min(Math.round((total * percent) / 100), type === 'flip' ? total - 1 : total);
          work.push(() => this.#strike(transfer, { type, side: transfer.side, after }, percent, row));
        }
      }
    }
    const next = work.values();
    const worker = async (): Promise<void> => {
      for (const job of next) await job();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return tallies;
  }

  async #bytesOf(transfer: Transfer): Promise<number> {
    await using proxy = await FaultyProxy.listen(() => this.#site.service.url, []);
    const outcome = await transfer.run(this.#site, { url: urlOf(proxy, this.#site), idle: 60 });
    if (outcome.type === 'failed') throw outcome.error;
    return proxy.passed[0]?.[transfer.side] ?? 0;
  }

  async #strike(transfer: Transfer, fault: Fault, percent: number, tally: Tally): Promise<void> {
    tally.tries += 1;
    const place = `${transfer.name}, ${fault.type} at ${percent} %`;
    const mustRecover = RECOVERING.has(transfer.name) && !isHandshake(fault, this.#site);
    let outcome: Outcome = { type: 'failed', error: undefined };
    try {
      for (const idle of IDLE_SECONDS) {
        await using proxy = await FaultyProxy.listen(() => this.#site.service.url, [fault]);
        outcome = await transfer.run(this.#site, { url: urlOf(proxy, this.#site), idle });
        if (outcome.type === 'recovered' || !mustRecover) break;
      }
    } catch (error) {
      tally.violations.push(`${place}: ${messageOf(error)}`);
      return;
    }
    if (outcome.type === 'recovered') {
      tally.recovered += 1;
      return;
    }
    tally.failed += 1;
    if (mustRecover) tally.violations.push(`${place} was not recovered: ${messageOf(outcome.error)}`);
    for (const sentence of messagesOf(outcome.error)) {
      tally.sentences.add(sentence.replaceAll(/\d+/g, '#'));
      const isClear = SENTENCE.test(sentence) && REMEDY.test(sentence) && !sentence.includes(this.#site.service.key);
      if (!isClear) tally.violations.push(`${place} is reported as: ${sentence}`);
    }
  }
}

/** A table of the tries, and the sentences that people read. */
export function describeTally(tallies: readonly Tally[]): string {
  const rows = tallies.map(({ transfer, type, tries, recovered, failed, violations }) =>
    [
      transfer.padEnd(9),
      type.padEnd(10),
      ...[tries, recovered, failed, violations.length].map((n) => String(n).padStart(9)),
    ].join(''),
  );
  const head = [
    'transfer fault    ',
    ...['tries', 'recovered', 'failed', 'violations'].map((name) => name.padStart(9)),
  ].join('');
  const sentences = new Set(tallies.flatMap((tally) => [...tally.sentences]));
  return [head, ...rows, ...sentences].join('\n');
}

/** Without a connection nothing was sent, and it is for a person to try again. */
function isHandshake({ after }: Fault, { service }: FaultySite): boolean {
  return service.url.startsWith('https:') && Number(after) < HANDSHAKE_BYTES;
}

function urlOf(proxy: FaultyProxy, { service }: FaultySite): string {
  return `${new URL(service.url).protocol}//127.0.0.1:${proxy.port}`;
}

/** The first, the last and others by the seed: of an answer, which comes after a handshake that is longer, near its end. */
function percents({ places, seed }: Options, name: Transfer['name'], type: FaultType): readonly number[] {
  if (places > 100) return Array.from({ length: 101 }, (_, percent) => percent);
  const first = name === 'answer' ? 80 : 1;
  const others = Array.from({ length: Math.max(0, places - 2) }, (_, index) => {
    const digest = createHash('sha256').update(`${seed} ${name} ${type} ${index}`).digest();
    return first + (digest.readUInt32BE() % (100 - first));
  });
  return [0, ...others, 100];
}
