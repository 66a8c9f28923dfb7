import type { Random } from '../../test/random.ts';
import { LIMITS, UNBUILT } from './assumptions.ts';
import type { Calibration, Cost } from './calibration.ts';
import type { Clock } from './clock.ts';
import type { Design } from './design.ts';
import { GroupCommit } from './groupCommit.ts';
import { HourlySums, Station } from './station.ts';
import { type Attended, type SteadyLoad, steadyLoad } from './steadyLoad.ts';

/** One process of the service: its event loop, its other threads, its transactions and its calls of `sbatch`. */
export class Front {
  readonly loop: Station;
  /** Work of other threads, which nobody waits for. */
  readonly threadsMs = new HourlySums();
  readonly commits: GroupCommit;
  readonly submits: Station;
  readonly #calibration: Calibration;
  readonly #design: Design;
  readonly #roundTripMs: number;
  readonly #clock: Clock;
  uploads = 0;
  running = 0;
  waiting = 0;
  steady: SteadyLoad = { loopShare: 0, othersMs: 0, outputsPerSecond: 0, lookMs: 0, spacingMs: 0 };

  constructor(
    clock: Clock,
    random: Random,
    { calibration, design }: { readonly calibration: Calibration; readonly design: Design },
  ) {
    this.#clock = clock;
    this.#calibration = calibration;
    this.#design = design;
    this.#roundTripMs = design.isShared ? UNBUILT.roundTripMs : 0;
    this.loop = new Station(clock);
    this.submits = new Station(clock, LIMITS.submitsAtOnce);
    const commitMs = design.isShared ? UNBUILT.databaseCommitMs : calibration.store.commitMs;
    this.commits = new GroupCommit(clock, this.loop, random, {
      commitMs: design.commitMs ?? commitMs,
      blocks: !design.isShared,
    });
  }

  /** Takes over what it attends to from now on, for so many seconds. */
  attend(attended: Omit<Attended, 'running' | 'waiting'>, forSeconds: number): void {
    const { running, waiting } = this;
    this.steady = steadyLoad({ ...attended, running, waiting }, this.#calibration, this.#design);
    const waits = this.commits.setSteady(this.steady.outputsPerSecond);
    this.loop.setSteady(this.steady.loopShare + waits);
    this.threadsMs.add(this.#clock.now, this.steady.othersMs * forSeconds);
  }

  /** Does work on the loop, and what belongs to it on other threads. */
  do({ loopMs, othersMs }: Cost, done: () => void): void {
    this.threadsMs.add(this.#clock.now, othersMs);
    this.loop.use(loopMs, done);
  }

  /** Makes a change durable, by the transaction that others share. */
  change(done: () => void): void {
    this.commits.join(() => this.#clock.after(2 * this.#roundTripMs, done));
  }
}
