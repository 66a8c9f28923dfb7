import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadClient } from './client.ts';
import type { Site } from './site.ts';

/** What a service takes at one instant. */
export interface Sample {
  /** Minutes since the beginning. */
  readonly minutes: number;
  readonly rssMb: number;
  readonly heapMb: number;
  readonly descriptors: number;
  readonly jobs: number;
  readonly events: number;
  /** The store and its journal. */
  readonly storeMb: number;
}

/** Measures a service: from outside what the kernel reports of its process, from inside its own counters. Linux only. */
export async function takeSample(
  site: Site,
  client: LoadClient,
  minutes: number,
  signal: AbortSignal,
): Promise<Sample> {
  const metrics = parseMetrics(await client.metrics(signal));
  const status = readFileSync(`/proc/${site.pid}/status`, 'utf8');
  const storeBytes = ['service.db', 'service.db-wal']
    .map((name) => statSync(join(site.data, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
  return {
    minutes,
    rssMb: (Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024) / 1e6,
    heapMb: (metrics.get('nodejs_heap_size_used_bytes') ?? Number.NaN) / 1e6,
    descriptors: readdirSync(`/proc/${site.pid}/fd`).length,
    jobs: metrics.get('farwharf_jobs_submitted_total') ?? 0,
    events: metrics.get('farwharf_events_appended_total') ?? 0,
    storeMb: storeBytes / 1e6,
  };
}

/** By how much a figure grows in an hour: the line of least squares through the samples. */
export function slopePerHour(samples: readonly Sample[], figure: (sample: Sample) => number): number {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [time, value] = [mean(({ minutes }) => minutes), mean(figure)];
  const moment = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + (sample.minutes - time) * of(sample), 0);
  return (60 * moment((sample) => figure(sample) - value)) / moment(({ minutes }) => minutes - time);
}

/** The sum of each metric over its labels. */
function parseMetrics(text: string): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, value] = /^(\w+)(?:\{.*\})? (\S+)$/.exec(line) ?? [];
    if (name !== undefined) sums.set(name, (sums.get(name) ?? 0) + Number(value));
  }
  return sums;
}
