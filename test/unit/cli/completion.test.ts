import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { complete } from '../../../src/cli/command/complete.ts';
import { completionScript } from '../../../src/cli/command/completionVerb.ts';
import { locateProgramFiles } from '../../../src/cli/command/commandContext.ts';
import { describeProgram } from '../../../src/cli/commandLine.ts';
import { Terminal } from '../../../src/cli/terminal/terminal.ts';

const stream = { write: () => {} };
const program = describeProgram(
  locateProgramFiles(join(import.meta.dirname, '../../../src/cli/main.ts')),
  new Terminal({ isJson: false, stdout: stream, stderr: stream }),
  async () => {},
);
const JOBS = ['3f2a', '3f99', '77aa'].map((value) => ({ value, description: 'train.py: running' }));

async function offer(line: string): Promise<{ readonly values: string[]; readonly paths: string }> {
  const words = line.split(' ');
  const { candidates, paths } = await complete(program, words.slice(0, -1), words.at(-1) ?? '', async (remote) =>
    remote === 'https://other.example.org' ? [] : JOBS,
  );
  return { values: candidates.map(({ value }) => value), paths };
}

const CASES: readonly (readonly [line: string, values: readonly string[], paths?: string])[] = [
  ['su', ['submit']],
  ['adm', ['admin']],
  ['__', []],
  ['admin key ', ['add', 'list', 'rotate', 'revoke', 'help']],
  ['admin key add --l', ['--label']],
  ['admin jobs --state ru', ['running']],
  ['submit --mac', ['--machine-class']],
  ['submit --remote https://gpu.example.org --mac', ['--machine-class']],
  ['submit --remote jobs --max', ['--max-runtime']],
  ['jobs --r', ['--remote']],
  ['submit --on-conflict ', ['merge', 'keep-both', 'overwrite', 'skip']],
  ['submit --on-conflict=s', ['--on-conflict=skip']],
  ['flow graph agent.ts --format m', ['mermaid']],
  ['completion ', ['bash', 'zsh', 'fish', 'powershell']],
  ['watch 3f', ['3f2a', '3f99']],
  ['watch 3f2a ', []],
  ['--remote https://other.example.org cancel ', []],
  ['download 77aa --into ', [], 'folders'],
  ['submit --script ', [], 'files'],
  ['submit mo', [], 'folders'],
  ['flow run ', [], 'files'],
  ['flow run agent.ts -- --', [], 'files'],
  ['flow test a b ', [], 'files'],
  ['jobs --limit ', []],
  ['help adm', ['admin']],
  ['help admin cr', ['credits']],
  ['admin help key r', ['rotate', 'revoke']],
  ['no-such-command ', []],
];

for (const [line, values, paths = 'none'] of CASES) {
  test(`"${line}" offers ${values.join(', ') || 'no names'}, and ${paths} as paths`, async () => {
    assert.deepEqual(await offer(line), { values, paths });
  });
}

test('every flag that the help shows is offered, and none that it hides', async () => {
  const { values } = await offer('serve --');
  assert.ok(values.includes('--port') && values.includes('--help') && values.includes('--remote'));
  assert.ok(!values.includes('--embedded'));
});

// PowerShell is on few machines that run tests. This finds what breaks most easily when a script lies in a template.
test('brackets and quotes of the script for PowerShell are balanced, and nothing of the template is left', () => {
  const script = completionScript('powershell').replaceAll(/^#.*$/gm, '');
  const bare = script.replaceAll(/'[^']*'/g, '').replaceAll(/"(?:`.|[^"`])*"/g, '');
  assert.doesNotMatch(bare, /['"`\\]/);
  const open: string[] = [];
  const pairs: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };
  for (const bracket of bare.match(/[()[\]{}]/g) ?? []) {
    const opening = pairs[bracket];
    if (opening === undefined) open.push(bracket);
    else assert.equal(open.pop(), opening);
  }
  assert.deepEqual(open, []);
});
