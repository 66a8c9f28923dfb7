// How far one job service goes, and what would come after it: a day of a site with 1,000 users and 100,000 jobs, simulated as events,
// with costs that were measured on the real service (bench/scale/calibration.json). Prints which resource is full first as the load
// grows, and what other designs would change. docs/scale.md has its tables.
// Usage: node bench/scaleSimulation.ts [--calibrate] [--doc] [--seed N]
//   --calibrate measures the costs on this machine first (Linux with Slurm's programs, about four minutes); --doc writes the tables into docs/scale.md
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ASSUMPTIONS } from './scale/assumptions.ts';
import { calibrate } from './scale/calibrate.ts';
import { type Calibration, readCalibration } from './scale/calibration.ts';
import { checkFormulas, simulateSubmits } from './scale/check.ts';
import { type Design, ONE_SERVER } from './scale/design.ts';
import { clusterShare, FULL, loopShare, type Resource, resourcesOf, storeBytes } from './scale/resources.ts';
import { Site } from './scale/site.ts';
import { bytes, duration, fillIn, percent, type Row, table } from './scale/tables.ts';

const LOADS = [0.1, 0.5, 1, 2, 5, 10];
const LEAST = 0.1;
const MOST = 10;
const BISECTIONS = 5;
// Enough to find a limit: the busiest hours, and those in which most jobs wait.
const BUSY_HOURS = [12, 18] as const;
const MOST_DEVIATION = 0.05;
const DESIGNS: readonly Design[] = [
  ONE_SERVER,
  { ...ONE_SERVER, name: 'disk with 10 ms a transaction', commitMs: 10 },
  { ...ONE_SERVER, name: 'five times the readers', readers: 5 },
  { ...ONE_SERVER, name: 'jobs without readers polled every 10 s', unreadLookMs: 10_000 },
  { ...ONE_SERVER, name: 'object storage', areBytesElsewhere: true },
  { ...ONE_SERVER, name: 'PostgreSQL, 1 front', isShared: true },
  { ...ONE_SERVER, name: 'PostgreSQL, 4 fronts', isShared: true, fronts: 4 },
  { name: 'PostgreSQL, 4 fronts, object storage', isShared: true, fronts: 4, areBytesElsewhere: true },
  { name: '… and five times the readers', isShared: true, fronts: 4, areBytesElsewhere: true, readers: 5 },
];

const { values } = parseArgs({
  options: { calibrate: { type: 'boolean' }, doc: { type: 'boolean' }, seed: { type: 'string', default: '1' } },
});
const seed = Number(values.seed);
const calibration = values.calibrate === true ? await calibrate() : readCalibration();

interface Day {
  readonly site: Site;
  readonly resources: readonly Resource[];
}

function simulate(design: Design, load: number, hours?: readonly [number, number]): Day {
  const site = new Site(calibration, design, { load, seed, ...(hours && { hours }) });
  return { site, resources: resourcesOf(site, calibration, design) };
}

function fullest({ resources }: Day): Resource {
  return resources.reduce((most, one) => (one.share > most.share ? one : most));
}

/** The highest load at which nothing is full, and what is full beyond it; as far as ten times. */
function limitOf(design: Design): { readonly load: number; readonly name: string } {
  const at = (load: number): Resource => fullest(simulate(design, load, BUSY_HOURS));
  let [low, high] = [LEAST, MOST];
  let name = '';
  for (let step = 0; step < BISECTIONS; step += 1) {
    const middle = Math.sqrt(low * high);
    const resource = at(middle);
    if (resource.share < FULL) low = middle;
    else {
      high = middle;
      name = resource.name;
    }
  }
  return { load: low, name };
}

/** Under overload, delays grow for as long as it lasts, so no other figure is meaningful. */
function delay({ site }: Day, ms: number): string {
  return site.overload === undefined ? duration(ms) : '-';
}

function shareOf({ site, resources }: Day, index: number): string {
  const share = resources[index]?.share ?? 0;
  if (site.overload !== undefined) return Number.isFinite(share) ? '-' : 'overloaded';
  return percent(share);
}

const quantiles = (day: Day, samples: { quantile: (part: number) => number }): Row =>
  [0.5, 0.95, 0.99].map((part) => delay(day, samples.quantile(part)));

function dayTable(day: Day): string {
  const { site, resources } = day;
  return [
    table([
      ['resource', 'busiest hour'],
      ...resources.map(({ name, share }) => [name, percent(share)]),
      ['cluster slots', percent(clusterShare(site))],
    ]),
    table([
      ['delay', 'p50', 'p95', 'p99'],
      ['submission, from the last byte to the response', ...quantiles(day, site.submitMs)],
      ['output, from the job to a reader', ...quantiles(day, site.deliveryMs)],
      ['accepted until handed to the cluster', ...quantiles(day, site.handOverMs)],
      ['waiting for a cluster slot', ...quantiles(day, site.queueMs)],
    ]),
    table([
      ['total of the day', ''],
      ['jobs accepted', site.jobs.toLocaleString('en-US')],
      ['pieces of output', `${(site.events / 1e6).toFixed(1)} million`],
      ['growth of the store', bytes(storeBytes(site, calibration))],
      ['growth of the results', bytes(site.resultBytes)],
      ['both in 30 days', bytes(30 * (storeBytes(site, calibration) + site.resultBytes))],
      ['most unfinished jobs', site.mostUnfinished.toLocaleString('en-US')],
      ['most open streams', Math.round(site.mostReaders).toLocaleString('en-US')],
      [
        'most open files',
        Math.round(calibration.process.restFiles + site.mostReaders + site.mostWindows).toLocaleString('en-US'),
      ],
      ['memory for streams', bytes(site.mostReaders * calibration.process.kilobytesPerReader * 1e3)],
    ]),
  ].join('\n\n');
}

function loadsTable(days: readonly Day[]): string {
  const names = days[0]?.resources.map(({ name }) => name) ?? [];
  return table([
    ['busiest hour', ...LOADS.map((load) => `x${load}`)],
    ...names.map((name, i) => [name, ...days.map((day) => shareOf(day, i))]),
    ['submission, p99', ...days.map((day) => delay(day, day.site.submitMs.quantile(0.99)))],
    ['output to a reader, p99', ...days.map((day) => delay(day, day.site.deliveryMs.quantile(0.99)))],
    [
      'submissions deferred (429)',
      ...days.map((day) => (day.site.overload === undefined ? day.site.refused.toLocaleString('en-US') : '-')),
    ],
  ]);
}

function designsTable(): string {
  const rows = DESIGNS.map((design) => {
    const day = simulate(design, 1);
    const { load, name } = limitOf(design);
    const upTo = name === '' ? `over x${load.toFixed(0)}` : `x${load.toFixed(1)}`;
    const p99 = [day.site.submitMs, day.site.deliveryMs].map((samples) => delay(day, samples.quantile(0.99)));
    return [
      design.name,
      day.site.overload === undefined ? percent(loopShare(day.site)) : 'overloaded',
      ...p99,
      upTo,
      name,
    ];
  });
  return table([
    ['design', 'loop at x1', 'submission p99', 'output p99', 'sufficient up to', 'first full resource'],
    ...rows,
  ]);
}

function checksTable({ checks }: Calibration): string {
  const rows = checks.map(({ perSecond, ...measured }) => {
    const simulated = simulateSubmits(calibration, perSecond);
    const shares = [measured.loopShare, simulated.processorShare];
    const off = (simulated.processorShare / measured.loopShare - 1) * 100;
    const deviation = `${off > 0 ? '+' : ''}${off.toFixed(0)} %`;
    const delays = [measured.p50, simulated.p50, measured.p99, simulated.p99].map(duration);
    return [`${perSecond}/s`, ...shares.map(percent), deviation, ...delays];
  });
  const head = [
    'submissions',
    'processor, measured',
    'simulated',
    'off by',
    'p50, measured',
    'simulated',
    'p99, measured',
    'simulated',
  ];
  return table([head, ...rows]);
}

function costsTable({ requests, store, jobs, slurm, machine, measuredAt }: Calibration): string {
  const cost = ({ loopMs, othersMs }: { readonly loopMs: number; readonly othersMs: number }): Row =>
    [loopMs, othersMs].map((value) => `${value.toPrecision(2)} ms`);
  const only = (value: number, unit = 'ms'): Row => [`${value.toPrecision(2)} ${unit}`, ''];
  return table([
    [`${machine}, ${measuredAt}`, 'event loop', 'other threads'],
    ['submission of two files', ...cost(requests.submit)],
    ['… per further file', ...cost(requests.perFile)],
    ['… per MB', ...cost(requests.perMegabyte)],
    ['handing a job to the cluster', ...cost(jobs.launch)],
    ['a waiting job, per second', ...cost(jobs.waitPerSecond)],
    ['poll of a running job', ...cost(jobs.look)],
    ['storing a piece of output', ...cost(jobs.output)],
    ['sending it to one reader', ...cost(jobs.delivery)],
    ['end of a job', ...cost(jobs.end)],
    ['… per MB of results', ...cost(jobs.resultPerMegabyte)],
    ['request for a job', ...cost(requests.get)],
    ['list of 50 jobs', ...cost(requests.list)],
    ['download, per MB', ...cost(requests.downloadPerMegabyte)],
    ['durable transaction', ...only(store.commitMs)],
    ['space in the store: a job, an event', `${store.bytesPerJob} bytes`, `${store.bytesPerEvent} bytes`],
    ['sbatch: one, four at once', `${slurm.sbatchMs.toPrecision(2)} ms`, `${slurm.sbatchPerSecond.toPrecision(2)}/s`],
    ['squeue', ...only(slurm.squeueMs)],
  ]);
}

const formulas = checkFormulas();
const sections: Record<string, string> = {};

function section(name: string, ...texts: readonly string[]): void {
  sections[name] = texts.join('\n\n');
  process.stdout.write(`## ${name}\n\n${sections[name]}\n\n`);
}

section('assumptions', table([['assumption', 'value', 'by'], ...ASSUMPTIONS], false));
section('costs', costsTable(calibration));
section(
  'checks',
  checksTable(calibration),
  table([
    ['time in one server, of 1 ms work', 'simulated', 'formula'],
    ...formulas.map(({ name, simulated, formula }) => [name, `${simulated.toFixed(2)} ms`, `${formula.toFixed(2)} ms`]),
  ]),
);
const days = LOADS.map((load) => simulate(ONE_SERVER, load));
const one = days[LOADS.indexOf(1)];
if (one !== undefined) section('day', dayTable(one));
const first = limitOf(ONE_SERVER);
section(
  'loads',
  loadsTable(days),
  `The first resource that is ${FULL * 100} % full in its busiest hour: **${first.name}**, beyond x${first.load.toFixed(1)}.`,
);
section('designs', designsTable());
if (values.doc === true) fillIn(join(import.meta.dirname, '../docs/scale.md'), sections);
process.exitCode = formulas.every(({ simulated, formula }) => Math.abs(simulated / formula - 1) < MOST_DEVIATION)
  ? 0
  : 1;
