// How long a job waits for its packages: from `farwharf submit` to the first line of a Python script, for a job without packages, for the
// first job with 50 packages, and for later ones, which find them installed; in the same run, what `python3 -m venv` and `pip install` take
// for the same packages. They come from a folder, so that no network is measured. Fails if the later jobs start a second later than those
// without packages. Needs python3 with venv and ensurepip.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const PACKAGES = 50;
const ROUNDS = 5;
const MAX_ADDED_SECONDS = 1;
const MAKE_WHEELS = `
import sys, zipfile
for number in range(${PACKAGES}):
    name = f'bench{number}'
    with zipfile.ZipFile(f'{sys.argv[1]}/{name}-1.0-py3-none-any.whl', 'w') as wheel:
        for part in range(20):
            wheel.writestr(f'{name}/part{part}.py', '\\n'.join(f'def f{line}(): return {line}' for line in range(100)))
        wheel.writestr(f'{name}/__init__.py', '')
        wheel.writestr(f'{name}-1.0.dist-info/METADATA', f'Metadata-Version: 2.1\\nName: {name}\\nVersion: 1.0\\n')
        wheel.writestr(f'{name}-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
        wheel.writestr(f'{name}-1.0.dist-info/RECORD', '')
`;
const builtCli = resolve(import.meta.dirname, '../dist/cli.mjs');
const root = mkdtempSync(join(tmpdir(), 'farwharf-packages-'));
const wheels = join(root, 'wheels');
const folder = join(root, 'project');
const names = Array.from({ length: PACKAGES }, (_, index) => `bench${index}`);
const installer = { PIP_FIND_LINKS: wheels, PIP_NO_INDEX: '1', PIP_CONFIG_FILE: '/dev/null' };

function makeFolder(): void {
  for (const each of [wheels, folder]) mkdirSync(each);
  execFileSync('python3', ['-c', MAKE_WHEELS, wheels]);
  writeFileSync(join(folder, 'requirements.txt'), names.map((name) => `${name}==1.0\n`).join(''));
  writeFileSync(join(folder, 'bare.py'), 'import time; print(time.time())\n');
  writeFileSync(
    join(folder, 'installed.py'),
    `import time; started = time.time(); import bench0, bench49; print(started)\n`,
  );
  const installed = { script: 'installed.py', requirements: 'requirements.txt', environment: installer };
  writeFileSync(
    join(folder, 'farwharf.json'),
    JSON.stringify({ profiles: { bare: { script: 'bare.py' }, installed } }),
  );
}

/** Seconds from the start of the command to the script's first line. */
function secondsToStart(profile: string, env: NodeJS.ProcessEnv): number {
  const before = Date.now() / 1000;
  const args = [builtCli, 'submit', folder, '--profile', profile, '--watch'];
  const printed = execFileSync(process.execPath, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return Number(printed.trim().split('\n').at(-1)) - before;
}

function secondsOf(work: () => unknown): number {
  const started = performance.now();
  work();
  return (performance.now() - started) / 1000;
}

function installByHand(): void {
  const venv = join(root, 'by-hand');
  execFileSync('python3', ['-m', 'venv', venv]);
  const args = ['-m', 'pip', 'install', '--quiet', '--requirement', join(folder, 'requirements.txt')];
  execFileSync(join(venv, 'bin/python'), args, { env: { ...process.env, ...installer } });
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
const print = (what: string, seconds: number): void =>
  void process.stdout.write(`${what.padEnd(46)} ${seconds.toFixed(2).padStart(7)} s\n`);

const data = join(root, 'service');
const config = join(root, 'service.json');
makeFolder();
writeFileSync(config, JSON.stringify({ process: { read_only: [wheels] } }));
const service = spawn(
  process.execPath,
  [builtCli, 'serve', '--port', '0', '--data', data, '--config', config, '--json'],
  {
    stdio: ['ignore', 'pipe', 'ignore'],
  },
);
try {
  const [line] = (await once(service.stdout.setEncoding('utf8'), 'data')) as [string];
  const { url, key } = JSON.parse(line) as { readonly url: string; readonly key: string };
  const env = {
    ...process.env,
    FARWHARF_HOME: join(root, 'home'),
    FARWHARF_REMOTE_HOST: url,
    FARWHARF_API_KEY: key,
  };
  secondsToStart('bare', env); // the first job of a service loads more
  const bare = median(Array.from({ length: ROUNDS }, () => secondsToStart('bare', env)));
  const first = secondsToStart('installed', env);
  const later = median(Array.from({ length: ROUNDS }, () => secondsToStart('installed', env)));
  const byHand = secondsOf(installByHand);
  print('a job without packages starts after', bare);
  print(`the first job with ${PACKAGES} packages after`, first);
  print('later jobs with them after', later);
  print('which is later than without packages by', later - bare);
  print('python -m venv and pip install, by hand', byHand);
  if (later - bare > MAX_ADDED_SECONDS) {
    process.stdout.write(`FAILED: at most ${MAX_ADDED_SECONDS} s are allowed\n`);
    process.exitCode = 1;
  }
} finally {
  service.kill();
  await once(service, 'exit');
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
