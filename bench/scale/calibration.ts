import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Milliseconds of processor time of a service: of its event loop, and of its other threads (files, compression). */
export interface Cost {
  readonly loopMs: number;
  readonly othersMs: number;
}

/** What a simulation needs to know of the real service on a machine. All of it is measured: `node bench/scaleSimulation.ts --calibrate`. */
export interface Calibration {
  readonly machine: string;
  readonly measuredAt: string;
  readonly requests: {
    /** Of a small archive of two files. */
    readonly submit: Cost;
    /** More for one that carries a key, as those of the command line and the editor do. */
    readonly key: Cost;
    readonly perFile: Cost;
    /** Of an archive. */
    readonly perMegabyte: Cost;
    /** What a small submission waits for besides the event loop: threads, files, the network of the machine itself. */
    readonly elsewhereMs: number;
    readonly get: Cost;
    readonly list: Cost;
    readonly downloadPerMegabyte: Cost;
  };
  readonly store: {
    /** How long the event loop stands still while a transaction is made durable, on average. */
    readonly commitMs: number;
    /** Processor time of one small change in a transaction with many. */
    readonly changeMs: number;
    readonly bytesPerJob: number;
    /** Besides the text itself. */
    readonly bytesPerEvent: number;
  };
  readonly jobs: {
    /** Handing a job to the cluster: a process of `sbatch`, and the job's first states without their transactions. */
    readonly launch: Cost;
    /** A job that waits in the cluster, each second. */
    readonly waitPerSecond: Cost;
    /** One check of the folder of a running job, with its share of the requests to the cluster. */
    readonly look: Cost;
    /** Taking over one piece of output, with its transaction but without waiting for the disk. */
    readonly output: Cost;
    /** Writing one piece of output to one reader. */
    readonly delivery: Cost;
    /** Packing small results and settling the job. */
    readonly end: Cost;
    readonly resultPerMegabyte: Cost;
    /** Each job in an answer of the cluster's queue. */
    readonly pollPerJob: Cost;
  };
  readonly slurm: {
    readonly sbatchMs: number;
    /** With four at once, as the service does it. */
    readonly sbatchPerSecond: number;
    readonly squeueMs: number;
    readonly squeuePerJobMs: number;
    /** Processor time of the controller. */
    readonly controllerPerSbatchMs: number;
    readonly controllerPerSqueueMs: number;
    readonly controllerPerSqueueJobMs: number;
  };
  readonly process: {
    readonly restMegabytes: number;
    readonly kilobytesPerReader: number;
    readonly restFiles: number;
  };
  /** What the service did under a steady load of small submissions: a simulation of the same has to come near. */
  readonly checks: readonly {
    readonly perSecond: number;
    readonly p50: number;
    readonly p99: number;
    readonly loopShare: number;
  }[];
}

export const CALIBRATION_FILE = join(import.meta.dirname, 'calibration.json');

export function readCalibration(path = CALIBRATION_FILE): Calibration {
  return JSON.parse(readFileSync(path, 'utf8')) as Calibration;
}
