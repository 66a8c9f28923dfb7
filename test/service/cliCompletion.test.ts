import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { programsAreMissing } from '../../scripts/programs.ts';
import { JobLedger } from '../../src/jobs/ledger/ledger.ts';
import { makeRecord } from '../unit/jobs/fixtures.ts';
import { Scratch } from './commandLine.ts';
import { built } from './support/built.ts';

const run = promisify(execFile);
const DEADLINE_MS = 60_000;
const CLEAR_LINE = '\u0015'; // Ctrl+U
const JOB_ID = '3f2a5bc0d1';

/** A folder to type in, with a `farwharf` on the PATH that completes, and writes down whatever else it is asked to do. */
async function makeDesk(scratch: Scratch) {
  const folder = await scratch.folder('desk', { 'train script.py': '', 'modest.txt': '', 'model/weights.bin': '' });
  const bin = await scratch.folder('bin', {});
  const log = join(scratch.root, 'typed.log');
  await writeFile(log, '');
  const script = `#!/bin/sh
case "$1" in
  __complete | completion) exec '${process.execPath}' '${built('cli.mjs')}' "$@" ;;
esac
line=
for word; do line="$line[$word]"; done
printf '%s\\n' "$line" >> '${log}'
`;
  await writeFile(join(bin, 'farwharf'), script);
  await chmod(join(bin, 'farwharf'), 0o755);
  const ledger = new JobLedger(scratch.home);
  ledger.insert(makeRecord({ jobId: JOB_ID, script: 'train.py' }));
  ledger.dispose();
  const { FARWHARF_REMOTE_HOST: _, ...inherited } = process.env;
  const env = {
    ...inherited,
    HOME: scratch.root,
    XDG_CONFIG_HOME: join(scratch.root, 'config'),
    FARWHARF_HOME: scratch.home,
    PATH: `${bin}${delimiter}${process.env['PATH']}`,
    TERM: 'dumb',
    INPUTRC: '/dev/null',
    HISTFILE: '',
  };
  return { folder, env, typed: () => readFile(log, 'utf8') };
}

/** Types into an interactive shell in a terminal of its own; `until` waits for what is true at last. */
class Typist implements Disposable {
  readonly #child: ChildProcessWithoutNullStreams;
  #seen = '';

  constructor(shell: string, { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv }) {
    this.#child = spawn('script', ['-qefc', shell, '/dev/null'], { cwd, env });
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => (this.#seen += text));
    this.#child.stderr.resume();
  }

  type(text: string): void {
    this.#child.stdin.write(text);
  }

  async sees(text: string): Promise<void> {
    await this.until(async () => this.#seen.includes(text), text);
  }

  async until(isTrue: () => Promise<boolean>, what: string): Promise<void> {
    const deadline = performance.now() + DEADLINE_MS;
    while (!(await isTrue())) {
      assert.ok(performance.now() < deadline, `not seen: ${what}. The terminal shows:\n${this.#seen}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  [Symbol.dispose](): void {
    this.#child.kill('SIGKILL');
  }
}

/** What is typed before the Tab key, and what the command is then given. */
const LINES: readonly (readonly [typed: string, given: string])[] = [
  ['farwharf sub', '[submit]'],
  ['farwharf admin key rev', '[admin][key][revoke]'],
  ['farwharf submit --machine', '[submit][--machine-class]'],
  ['farwharf flow graph x.ts --format m', '[flow][graph][x.ts][--format][mermaid]'],
  ['farwharf watch 3f', `[watch][${JOB_ID}]`],
  ['farwharf submit --script tr', '[submit][--script][train script.py]'],
  ['farwharf submit mod', '[submit][model/]'],
  ['farwharf search "$(echo x)" --top', '[search][x][--top-k]'],
];

for (const [name, shell, setUp] of [
  ['bash', 'bash --norc --noprofile -i', ''],
  ['zsh', 'zsh -f -i', 'setopt no_auto_remove_slash; autoload -Uz compinit; compinit -u; '],
] as const) {
  test(`${name} completes commands, flags, choices, job IDs and paths, and evaluates nothing`, async (t) => {
    const missing = await programsAreMissing(name, {
      programs: [name, 'script'],
      packages: [name, 'bsdutils'],
    });
    if (missing !== undefined || process.platform !== 'linux') return t.skip(`NO ${name} HERE: ${missing}`);
    await using scratch = await Scratch.create();
    const { folder, env, typed } = await makeDesk(scratch);
    using typist = new Typist(shell, { cwd: folder, env });
    typist.type(`${setUp}source <(farwharf completion ${name}); echo loaded-$((40 + 2))\n`);
    await typist.sees('loaded-42');
    let before = '';
    for (const [line, given] of LINES) {
      typist.type(`${line}\t\n`);
      await typist.until(async () => (await typed()).length > before.length, given);
      const now = await typed();
      assert.equal(now.slice(before.length).trimEnd(), given, line);
      before = now;
    }
    // Completed, and then taken back: nothing of it is run.
    typist.type(`farwharf search "$(touch evaluated)" --top\t${CLEAR_LINE}echo checked-$((40 + 2))\n`);
    await typist.sees('checked-42');
    assert.ok(!existsSync(join(folder, 'evaluated')));
    assert.equal(await typed(), before);
  });
}

test('fish offers commands with what they do, flags, choices, job IDs and paths', async (t) => {
  const missing = await programsAreMissing('fish', { programs: ['fish'], packages: ['fish'] });
  if (missing !== undefined) return t.skip(`NO fish HERE: ${missing}`);
  await using scratch = await Scratch.create();
  const { folder, env } = await makeDesk(scratch);
  const offers: readonly (readonly [line: string, offers: RegExp])[] = [
    ['farwharf sub', /^submit\tsend a folder as a job\n$/],
    ['farwharf admin key rev', /^revoke\t.*\n$/],
    ['farwharf submit --machine', /^--machine-class\t.*\n$/],
    ['farwharf flow graph x.ts --format m', /^mermaid\n$/],
    ['farwharf watch 3f', new RegExp(`^${JOB_ID}\ttrain\\.py: queued\n$`)],
    ['farwharf submit --script tr', /^train script\.py\t?.*\n$/],
    ['farwharf submit mod', /^model\/\t?.*\n$/],
    ['farwharf jobs --limit ', /^$/],
  ];
  for (const [line, expected] of offers) {
    const script = `farwharf completion fish | source; complete --do-complete '${line}'`;
    const { stdout } = await run('fish', ['-c', script], { cwd: folder, env, timeout: DEADLINE_MS });
    assert.match(stdout, expected, line);
  }
  const script = `farwharf completion fish | source; complete --do-complete 'farwharf search (touch evaluated) --top'`;
  await run('fish', ['-c', script], { cwd: folder, env, timeout: DEADLINE_MS });
  assert.ok(!existsSync(join(folder, 'evaluated')));
});

test('PowerShell offers commands, flags, choices and job IDs', async (t) => {
  const isThere = await run('pwsh', ['-NoProfile', '-Command', '1']).then(
    () => true,
    () => false,
  );
  if (!isThere)
    return t.skip('NO pwsh ON THE PATH, and no package of Debian has it: its script is only checked for balance');
  await using scratch = await Scratch.create();
  const { folder, env } = await makeDesk(scratch);
  for (const [line, value] of [
    ['farwharf sub', 'submit'],
    ['farwharf submit --machine', '--machine-class'],
    ['farwharf flow graph x.ts --format m', 'mermaid'],
    ['farwharf watch 3f', JOB_ID],
  ] as const) {
    const script = `farwharf completion powershell | Out-String | Invoke-Expression
      (TabExpansion2 -inputScript '${line}' -cursorColumn ${line.length}).CompletionMatches.CompletionText`;
    const { stdout } = await run('pwsh', ['-NoProfile', '-Command', script], {
      cwd: folder,
      env,
      timeout: DEADLINE_MS,
    });
    assert.equal(stdout.trim(), value, line);
  }
});

test('completion starts nothing, creates nothing and asks nobody', async () => {
  await using scratch = await Scratch.create();
  const env = { FARWHARF_REMOTE_HOST: 'https://192.0.2.1', FARWHARF_API_KEY: 'some-key-or-other' };
  const jobs = await scratch.run(['__complete', '=', 'watch'], { env });
  assert.deepEqual([jobs.exit, jobs.stdout, jobs.stderr], [0, ':none\n', '']);
  const flags = await scratch.run(['__complete', '=--js', 'submit', '--json', '--watch'], { env });
  assert.match(flags.stdout, /^--json\t.*\n:none\n$/);
  assert.ok(!existsSync(scratch.home), 'FARWHARF_HOME was made');
});

test('an unknown shell is refused with the known ones', async () => {
  await using scratch = await Scratch.create();
  for (const args of [['completion'], ['completion', 'tcsh']]) {
    const done = await scratch.run(args);
    assert.equal(done.exit, 2);
    assert.match(done.stderr, /Run: farwharf help completion$/m);
  }
  assert.match((await scratch.run(['completion', 'tcsh'])).stderr, /bash, zsh, fish, powershell/);
});
