import { type Random, randomFrom } from '../../test/random.ts';
import { LIMITS, SITE, UNBUILT } from './assumptions.ts';
import type { Calibration } from './calibration.ts';
import { Clock } from './clock.ts';
import { plus, times } from './cpuMeter.ts';
import type { Design } from './design.ts';
import { exponential, logNormal, runSeconds } from './distributions.ts';
import { Front } from './front.ts';
import { POLLS_PER_SECOND } from './steadyLoad.ts';
import { Samples } from './samples.ts';
import { HourlySums, Station } from './station.ts';
import { Users } from './users.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
// What runs and waits at first comes from the day before.
const PAST_MS = DAY_MS;
const SETTLE_MS = 10_000;
const PROBE_MS = 5_000;
// A backlog of this size does not shrink again, so the rest of the day is not simulated.
const HOPELESS = 5_000;

interface Job {
  readonly front: Front;
  readonly isOfSweep: boolean;
  readonly megabytes: number;
  readonly files: number;
}

export interface SiteOptions {
  /** Times the users, the jobs and the slots of the cluster. */
  readonly load: number;
  readonly seed: number;
  /** The hours of the day that are simulated; all of them unless said. */
  readonly hours?: readonly [from: number, until: number];
}

/** A day of a site: its users, its service and its cluster. The same seed gives the same day. */
export class Site {
  readonly clock: Clock;
  readonly #from: number;
  readonly #calibration: Calibration;
  readonly #design: Design;
  readonly #load: number;
  readonly #random: Random;
  readonly fronts: readonly Front[];
  readonly #users: Users;
  #nextFront = 0;
  #queuedForCluster = 0;
  readonly cluster: Station;
  readonly controllerMs = new HourlySums();
  readonly submitMs = new Samples();
  readonly deliveryMs = new Samples();
  readonly queueMs = new Samples();
  readonly handOverMs = new Samples();
  readonly linkBytes = new HourlySums();
  readonly diskBytes = new HourlySums();
  readonly databaseMs = new HourlySums();
  readonly clusterMs = new HourlySums();
  jobs = 0;
  events = 0;
  resultBytes = 0;
  refused = 0;
  mostUnfinished = 0;
  mostReaders = 0;
  mostWindows = 0;
  /** Of what more was asked than there is; the day ended early then, as it would not have got less. */
  overload: 'loop' | 'unfinished' | undefined;

  constructor(calibration: Calibration, design: Design, { load, seed, hours: [from, until] = [0, 24] }: SiteOptions) {
    this.#from = from * HOUR_MS;
    this.clock = new Clock(this.#from - PAST_MS);
    this.#calibration = calibration;
    this.#design = design;
    this.#load = load;
    this.#random = randomFrom(seed);
    this.fronts = Array.from(
      { length: design.fronts },
      () => new Front(this.clock, this.#random, { calibration, design }),
    );
    this.cluster = new Station(this.clock, Math.round(SITE.slots * load));
    // Their own numbers, so that every design has the same day.
    this.#users = new Users(this.clock, randomFrom(seed + 1), {
      load,
      send: (isOfSweep, answered) => this.#send(isOfSweep, answered),
    });
    this.#users.start();
    this.clock.at(this.#from, () => {
      this.#updateLoad();
      this.#probe();
    });
    this.clock.run(until * HOUR_MS);
  }

  get #unfinished(): number {
    return this.cluster.busy + this.cluster.queued + this.#queuedForCluster;
  }

  #send(isOfSweep: boolean, answered: () => void): void {
    const front = this.fronts[(this.#nextFront = (this.#nextFront + 1) % this.fronts.length)] as Front;
    const megabytes = Math.min(20_000, logNormal(SITE.archiveMedianBytes, SITE.archiveSigma, this.#random) / 1e6);
    const files = Math.max(1, logNormal(SITE.filesMedian, SITE.filesSigma, this.#random));
    const job = { front, isOfSweep, megabytes, files };
    if (this.clock.now >= this.#from) this.#receive(job, answered);
    else {
      // Of the day before only the jobs matter that still run.
      this.#run(job, 0);
      answered();
    }
  }

  #receive(job: Job, answered: () => void): void {
    const { front, megabytes, files } = job;
    if (this.#unfinished >= LIMITS.unfinishedJobs * this.fronts.length || front.uploads >= LIMITS.uploadsAtOnce) {
      this.refused += 1;
      this.clock.after(LIMITS.retryMs, () => this.#receive(job, answered));
      return;
    }
    const { requests } = this.#calibration;
    front.uploads += 1;
    const [passing, unpacked] = this.#design.areBytesElsewhere ? [0, 0] : [megabytes, files];
    this.linkBytes.add(this.clock.now, passing * 1e6);
    this.diskBytes.add(this.clock.now, 2 * passing * 1e6);
    const work = plus(
      requests.submit,
      requests.key,
      times(requests.perMegabyte, passing),
      times(requests.perFile, unpacked),
    );
    this.clock.after((passing * 1e6 * 1000) / SITE.clientBytesPerSecond, () => {
      const receivedAt = this.clock.now;
      // The loop is needed before the archive is unpacked and after it.
      front.do(times(work, 0.5), () =>
        this.clock.after(requests.elsewhereMs, () =>
          front.do(times(work, 0.5), () =>
            front.change(() => {
              front.uploads -= 1;
              this.jobs += 1;
              this.submitMs.add(this.clock.now - receivedAt);
              answered();
              this.#handOver(job);
            }),
          ),
        ),
      );
    });
  }

  #handOver(job: Job): void {
    const { jobs, slurm } = this.#calibration;
    const acceptedAt = this.clock.now;
    this.#queuedForCluster += 1;
    this.mostUnfinished = Math.max(this.mostUnfinished, this.#unfinished);
    const { submits } = job.front;
    const handedOver = (): void => {
      this.controllerMs.add(this.clock.now, slurm.controllerPerSbatchMs);
      this.#queuedForCluster -= 1;
      this.handOverMs.add(this.clock.now - acceptedAt);
      this.#run(job, this.clock.now);
    };
    // A job waits for its turn before anything is done for it.
    const onStart = (): void => job.front.do(jobs.launch, () => {});
    submits.use((LIMITS.submitsAtOnce * 1000) / slurm.sbatchPerSecond, handedOver, onStart);
  }

  #run(job: Job, handedOverAt: number): void {
    const { front } = job;
    const isNow = this.clock.now >= this.#from;
    const runMs = runSeconds(this.#random, job.isOfSweep) * 1000;
    front.waiting += 1;
    // The cluster starts the next when one ends: its slot is taken for as long as it runs.
    const begin = (): void => {
      front.waiting -= 1;
      front.running += 1;
      if (!isNow) return;
      this.queueMs.add(this.clock.now - handedOverAt);
      // Two states, each a transaction.
      this.#write(front, 2);
    };
    this.cluster.use(runMs, () => this.#end(job, runMs), begin);
  }

  #end(job: Job, runMs: number): void {
    const { front } = job;
    front.running -= 1;
    if (this.clock.now < this.#from) return;
    const { jobs, requests } = this.#calibration;
    const bytes = logNormal(SITE.resultMedianBytes, SITE.resultSigma, this.#random);
    const passing = this.#design.areBytesElsewhere ? 0 : bytes / 1e6;
    this.resultBytes += bytes;
    this.events += runMs / SITE.outputEveryMs;
    this.diskBytes.add(this.clock.now, passing * 1e6);
    this.clock.after(this.#random() * front.steady.lookMs, () =>
      front.do(plus(jobs.end, times(jobs.resultPerMegabyte, passing)), () => this.#write(front, 1)),
    );
    if (this.#random() > SITE.downloadedShare) return;
    this.clock.after(exponential(SITE.downloadDelayMs, this.#random), () => {
      this.linkBytes.add(this.clock.now, passing * 1e6);
      front.do(plus(requests.get, times(requests.downloadPerMegabyte, passing)), () => {});
    });
  }

  /** Transactions that share with no others, as those of states. */
  #write(front: Front, changes: number): void {
    const { store } = this.#calibration;
    this.databaseMs.add(this.clock.now, changes * UNBUILT.databaseMsPerChange);
    if (!this.#design.isShared) front.loop.use(changes * (this.#design.commitMs ?? store.commitMs), () => {});
  }

  /** Updates the steady load. */
  #updateLoad(): void {
    const online = this.#users.presence(this.clock.now);
    const windows = SITE.users * this.#load * SITE.windowShare * online;
    const readers = Math.min(windows * SITE.streamsPerWindow * (this.#design.readers ?? 1), 20 * this.cluster.busy);
    const justEnded = this.#users.rate(this.clock.now) * SITE.listedMs;
    const listed = this.cluster.busy + this.cluster.queued + justEnded;
    const fronts = this.fronts.length;
    for (const front of this.fronts)
      front.attend({ listed, readers: readers / fronts, windows: windows / fronts }, SETTLE_MS / 1000);
    const { slurm } = this.#calibration;
    const polledMs = slurm.controllerPerSqueueMs + slurm.controllerPerSqueueJobMs * listed;
    this.controllerMs.add(this.clock.now, (POLLS_PER_SECOND * fronts * polledMs * SETTLE_MS) / 1000);
    const outputs = this.fronts.reduce((total, { steady }) => total + steady.outputsPerSecond, 0);
    this.databaseMs.add(this.clock.now, (outputs * UNBUILT.databaseMsPerChange * SETTLE_MS) / 1000);
    this.clusterMs.add(this.clock.now, (this.cluster.busy / SITE.slots / this.#load) * SETTLE_MS);
    this.mostReaders = Math.max(this.mostReaders, readers / fronts);
    this.mostWindows = Math.max(this.mostWindows, windows / fronts);
    if (this.fronts.some(({ loop }) => loop.queued > HOPELESS)) this.overload = 'loop';
    else if (this.refused > HOPELESS) this.overload = 'unfinished';
    if (this.overload !== undefined) this.clock.stop();
    this.clock.after(SETTLE_MS, () => this.#updateLoad());
  }

  /** Follows a piece of output on its way to a reader, now and then. */
  #probe(): void {
    this.clock.after(exponential(PROBE_MS, this.#random), () => this.#probe());
    const front = this.fronts[Math.floor(this.#random() * this.fronts.length)] as Front;
    const { jobs } = this.#calibration;
    const { lookMs, spacingMs } = front.steady;
    const writtenAt = this.clock.now;
    const notified = this.#design.isShared ? UNBUILT.roundTripMs : 0;
    // A write waits for the one before it only where a job writes more often than its readers are written to.
    const spacing = Math.max(0, spacingMs - SITE.outputEveryMs) * this.#random();
    this.clock.after(this.#random() * lookMs, () =>
      front.do(jobs.output, () =>
        front.change(() =>
          this.clock.after(notified + spacing, () =>
            front.do(jobs.delivery, () => this.deliveryMs.add(this.clock.now - writtenAt)),
          ),
        ),
      ),
    );
  }
}
