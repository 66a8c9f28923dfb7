import { readFileSync } from 'node:fs';
import type { Companion } from '../support/companion.ts';
import type { Cost } from './calibration.ts';

interface Reading {
  readonly loopMs: number;
  readonly allMs: number;
  readonly atMs: number;
}

export interface Spent extends Cost {
  readonly seconds: number;
}

/** The processor time of a service, its event loop apart from its other threads. Linux only. */
export class CpuMeter {
  readonly #service: Companion;

  constructor(service: Companion) {
    this.#service = service;
  }

  /** What the service spends while `work` is under way. */
  async during(work: () => Promise<unknown>): Promise<Spent> {
    const before = this.#read();
    await work();
    const after = this.#read();
    const loopMs = after.loopMs - before.loopMs;
    const othersMs = Math.max(0, after.allMs - before.allMs - loopMs);
    return { loopMs, othersMs, seconds: (after.atMs - before.atMs) / 1000 };
  }

  #read(): Reading {
    const { pid, cpuSeconds } = this.#service;
    // The first number is the nanoseconds that the thread was on a processor; a process' first thread runs its event loop.
    const schedule = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8');
    return { loopMs: Number(schedule.split(' ')[0]) / 1e6, allMs: cpuSeconds * 1000, atMs: performance.now() };
  }
}

/** What each of `count` cost, after `rest` was taken away. */
export function each(spent: Cost, count: number, rest: Cost = { loopMs: 0, othersMs: 0 }): Cost {
  const share = (all: number, other: number): number => round(Math.max(0, all - other) / count);
  return { loopMs: share(spent.loopMs, rest.loopMs), othersMs: share(spent.othersMs, rest.othersMs) };
}

export function times({ loopMs, othersMs }: Cost, count: number): Cost {
  return { loopMs: loopMs * count, othersMs: othersMs * count };
}

export function plus(...costs: readonly Cost[]): Cost {
  const sum = (kind: keyof Cost): number => costs.reduce((total, cost) => total + cost[kind], 0);
  return { loopMs: sum('loopMs'), othersMs: sum('othersMs') };
}

/** To four digits, so that a calibration can be read. */
export function round(value: number): number {
  return Number(value.toPrecision(4));
}
