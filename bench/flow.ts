// What a visit of a node costs, in CPU time, next to the peers. One process for each runtime, so that none warms or spoils another.
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CLASSES, SUBJECTS } from './flow/workloads.ts';

const WARM_UPS = 4;
const REPEATS = 7;
// Other work on the machine changes what a process measures, so all are measured in turn, several times.
const ROUNDS = 3;
// langgraph needs three orders of magnitude more time for a visit, and its cost is linear.
const SIZES: Readonly<Record<string, { readonly visits: number; readonly runs: number }>> = {
  langgraph: { visits: 2_000, runs: 200 },
};
const FULL_SIZE = { visits: 100_000, runs: 10_000 };
const HEAP_VISITS = 1_000_000;

interface Measured {
  readonly loop: number;
  readonly chain: number;
}

const cpuMicros = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

async function medianMicros(visits: number, work: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let repeat = 0; repeat < WARM_UPS + REPEATS; repeat += 1) {
    const before = cpuMicros();
    const made = await work();
    if (made !== visits) throw new Error(`${made} visits instead of ${visits}`);
    if (repeat >= WARM_UPS) times.push((cpuMicros() - before) / visits);
  }
  return median(times);
}

async function measure(name: string): Promise<Measured> {
  const { visits, runs } = SIZES[name] ?? FULL_SIZE;
  const subject = await SUBJECTS[name]?.();
  if (subject === undefined) throw new Error(`no subject ${name}`);
  return {
    loop: await medianMicros(visits, () => subject.loop(visits)),
    chain: await medianMicros(runs * CLASSES, () => subject.chain(runs)),
  };
}

/** Bytes that stay on the heap after a loop of a million visits, traced, compared with before. */
async function heapGrowth(): Promise<number> {
  const subject = await SUBJECTS['farwharf, sync hooks, traced']?.();
  const collect = globalThis.gc;
  if (subject === undefined || collect === undefined) throw new Error('run with --expose-gc');
  await subject.loop(10_000);
  collect();
  const before = process.memoryUsage().heapUsed;
  await subject.loop(HEAP_VISITS);
  collect();
  return process.memoryUsage().heapUsed - before;
}

function inChild(...args: readonly string[]): string {
  return execFileSync(process.execPath, ['--expose-gc', import.meta.filename, ...args], { encoding: 'utf8' });
}

function importCost(file: string): { readonly milliseconds: number; readonly kilobytes: number } {
  const script = `const t=performance.now();await import(${JSON.stringify(file)});console.log(performance.now()-t)`;
  const times = Array.from({ length: 9 }, () =>
    Number(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })),
  );
  return { milliseconds: median(times), kilobytes: statSync(file).size / 1000 };
}

function report(): void {
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  const results = new Map<string, Measured>();
  print(`${'microseconds of CPU per visit'.padEnd(34)}${'loop'.padStart(10)}${'chain'.padStart(10)}`);
  const rounds = Array.from({ length: ROUNDS }, () =>
    Object.keys(SUBJECTS).map((name) => [name, JSON.parse(inChild('--subject', name)) as Measured] as const),
  );
  for (const name of Object.keys(SUBJECTS)) {
    const all = rounds.flat().flatMap(([other, measured]) => (other === name ? [measured] : []));
    const measured = { loop: median(all.map(({ loop }) => loop)), chain: median(all.map(({ chain }) => chain)) };
    results.set(name, measured);
    print(`${name.padEnd(34)}${measured.loop.toFixed(3).padStart(10)}${measured.chain.toFixed(3).padStart(10)}`);
  }
  const ratio = (name: string, peer: string, target: string): void => {
    const [own, other] = [results.get(name), results.get(peer)];
    if (own === undefined || other === undefined) return;
    const [loop, chain] = [own.loop / other.loop, own.chain / other.chain];
    print(`${name} / ${peer}: loop ${loop.toFixed(3)}, chain ${chain.toFixed(3)} (to reach: ${target})`);
  };
  print('');
  ratio('farwharf, sync hooks', 'pocketflow', '0.2');
  ratio('farwharf, async hooks', 'pocketflow', '0.5');
  ratio('farwharf, sync hooks, traced', 'pocketflow', '1');
  ratio('farwharf, async hooks, traced', 'pocketflow', '1');
  ratio('farwharf, async hooks', 'hand-written, 3 awaits', 'as near to 1 as can be');
  ratio('farwharf, async hooks', 'langgraph', '0.01');
  print(`heap after ${HEAP_VISITS} visits: ${(Number(inChild('--heap')) / 1000).toFixed(0)} KB more than before`);
  const built = join(import.meta.dirname, '../dist/agents.mjs');
  if (!existsSync(built)) {
    print('import: not measured, run `npm run build` first');
    return;
  }
  const { milliseconds, kilobytes } = importCost(built);
  print(`import of the built package: ${milliseconds.toFixed(1)} ms (to reach: 15), entry ${kilobytes.toFixed(1)} KB`);
}

const [mode, name = ''] = process.argv.slice(2);
if (mode === '--subject') process.stdout.write(JSON.stringify(await measure(name)));
else if (mode === '--heap') process.stdout.write(String(await heapGrowth()));
else report();
