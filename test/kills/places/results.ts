import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { JobLedger } from '../../../src/jobs/ledger/ledger.ts';
import { pick, type Random } from '../../random.ts';
import {
  canKill,
  commandOf,
  type KillPoint,
  killPoints,
  leftOvers,
  makePlace,
  type Place as Download,
  run,
  type RunOptions,
  snapshot,
} from '../../unit/jobs/results/killedDownloads.ts';
import type { Kill, Life, Place } from '../campaign.ts';
import { KilledProcess } from '../process.ts';

/** Results that are written into a folder: killed at a call that changes the disk, or at any moment, and taken back by the next command. */
export const results: Place = {
  name: 'results',
  missing: () => (canKill() ? undefined : 'strace is not installed: there is no way to stop at a step'),
  begin: async (folder, random) => new ResultsLife(folder, random),
};

class ResultsLife implements Life {
  readonly #folder: string;
  readonly #random: Random;
  readonly #points = new Map<boolean, readonly KillPoint[]>();
  #kills = 0;

  constructor(folder: string, random: Random) {
    this.#folder = folder;
    this.#random = random;
  }

  async kill(): Promise<Kill> {
    this.#kills += 1;
    // Some file systems have no hard links.
    const hasNoLinks = this.#kills % 4 === 0;
    const isAtStep = this.#kills % 3 !== 0;
    const kill = isAtStep ? pick(this.#pointsOf(hasNoLinks), this.#random) : undefined;
    const place = makePlace(join(this.#folder, String(this.#kills)));
    const before = snapshot(place.folder);
    const isDone = await this.#download(place, { ...(kill && { kill }), hasNoLinks });
    const isMidWrite = !isDone && leftOvers(place).length > 0;
    // The next command may be killed as well.
    if (this.#random() < 1 / 3) {
      const call = pick(this.#pointsOf(hasNoLinks), this.#random)?.call ?? 'rename';
      run(place, 'recover', { kill: { call, number: 1 + Math.floor(this.#random() * 12) }, hasNoLinks });
    }
    run(place, 'recover', { hasNoLinks });
    const state = snapshot(place.folder);
    assert.ok(state === place.expected || (!isDone && state === before), `${kill?.line}: a third state\n${state}`);
    assert.deepEqual(leftOvers(place), []);
    const ledger = new JobLedger(place.home);
    assert.equal(ledger.problem, undefined);
    const record = ledger.get(place.id);
    ledger.dispose();
    assert.ok(record !== undefined && (!isDone || record.downloadedAt !== null), 'the job is in the ledger');
    rmSync(join(this.#folder, String(this.#kills)), { recursive: true });
    return { isMidWrite };
  }

  async finish(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}

  /** Runs a download until it is killed. Gives whether it had said that it was done. */
  async #download(place: Download, options: RunOptions): Promise<boolean> {
    const [command, ...argv] = commandOf(place, 'download', options);
    const download = new KilledProcess(command, argv);
    if (options.kill === undefined) {
      await download.untilLines(1);
      await sleep(this.#random() * 40);
      await download.kill();
    } else await download.closed();
    assert.ok(download.isKilled || download.exitCode === 0, download.errors);
    return download.lines.includes('done');
  }

  #pointsOf(hasNoLinks: boolean): readonly KillPoint[] {
    let points = this.#points.get(hasNoLinks);
    if (points === undefined) {
      const rehearsal = join(this.#folder, `rehearsal-${hasNoLinks}`);
      points = killPoints(makePlace(rehearsal), hasNoLinks).filter(({ call }) => !(hasNoLinks && call === 'link'));
      this.#points.set(hasNoLinks, points);
      rmSync(rehearsal, { recursive: true });
    }
    return points;
  }
}
