import { execFileSync, spawnSync } from 'node:child_process';

const MARK = 'FARWHARF_BENCH_LINE';

/** Whether this program runs in a network of its own. */
export const hasOwnNetwork: boolean = process.env[MARK] !== undefined;

/** Runs this program again in a network of its own, whose loopback device `limitLine` can slow down, and ends. Needs Linux, root and iproute2. */
export function enterOwnNetwork(): void {
  if (!hasOwnNetwork) {
    const args = ['--net', process.execPath, ...process.execArgv, ...process.argv.slice(1)];
    const { status, error } = spawnSync('unshare', args, { stdio: 'inherit', env: { ...process.env, [MARK]: '1' } });
    if (error !== undefined) throw error;
    process.exit(status ?? 1);
  }
  execFileSync('ip', ['link', 'set', 'lo', 'up']);
}

/** Limits the loopback device, both directions together. @param rate as tc(8) writes it, such as 20mbit. */
export function limitLine(rate: string): void {
  // The loopback device sends up to 64 KB at once, which the bucket must be able to hold.
  execFileSync('tc', [
    'qdisc',
    'replace',
    'dev',
    'lo',
    'root',
    'tbf',
    'rate',
    rate,
    'burst',
    '128kb',
    'latency',
    '400ms',
  ]);
}

export function unlimitLine(): void {
  execFileSync('tc', ['qdisc', 'del', 'dev', 'lo', 'root']);
}
