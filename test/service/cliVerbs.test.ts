import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Command } from 'commander';
import { locateProgramFiles } from '../../src/cli/command/commandContext.ts';
import { commandPath } from '../../src/cli/command/typedPosition.ts';
import { describeProgram } from '../../src/cli/commandLine.ts';
import { Terminal } from '../../src/cli/terminal/terminal.ts';
import { jsonLines, Scratch } from './commandLine.ts';
import { built } from './support/built.ts';

const FLOW = `
import { Flow, Node } from 'farwharf/agents';
class Add extends Node {
  post(shared) { shared.sum = (shared.sum ?? 0) + 1; }
}
export const sum = new Flow({ start: new Add(), name: 'Sum' });
`;
/** The verb ran, and what it is about does not exist or cannot be. */
const REFUSED = 2;
/** The service refused what the verb asked for. */
const FAILED = 1;

/** The verbs that serve until they are stopped, or read a terminal. Other tests start these as processes. */
const TESTED_ELSEWHERE = ['serve', 'mcp', 'login', 'secret set'];

/** The verbs of the program, such as `admin key add`. */
function verbsOf(command: Command): readonly string[] {
  const children = command.commands.filter((child) => child.name() !== 'help');
  return children.length === 0 ? [commandPath(command)] : children.flatMap(verbsOf);
}

test('every verb of the built program runs in a process of its own, and ends by itself', async () => {
  await using scratch = await Scratch.create({ isProcess: true });
  const { env, data } = await scratch.serve(await scratch.unisolated());
  const cwd = await scratch.folder('project', {
    'job.sh': 'echo done > result.txt',
    'sum.mjs': FLOW,
    'cases.jsonl': '{"name": "one", "shared": {}, "expect": {"sum": 1}}\n',
    'accounts.csv': 'account,name\nbob,Bob\n',
  });
  const sent = await scratch.run(['submit', '--script', 'job.sh', '--watch', '--json'], { env, cwd });
  assert.equal(sent.exit, 0, sent.stderr);
  const id = String(jsonLines(sent.stdout).find((line) => line['job_id'] !== undefined)?.['job_id']);
  const backup = join(scratch.root, 'backup.tar.gz');
  const ran = new Set(['submit', ...TESTED_ELSEWHERE]);

  const user: readonly (readonly [line: string, exit?: number])[] = [
    ['jobs'],
    [`job ${id}`],
    [`add ${id}`],
    [`watch ${id}`],
    [`exec ${id} -- true`, FAILED], // it is over
    [`debug ${id}`, FAILED], // it is over
    [`shell ${id}`, REFUSED], // this is no terminal
    [`files ${id}`, FAILED],
    [`cp ${id}:result.txt copy.txt`, FAILED],
    [`ports ${id}`, FAILED],
    [`forward ${id} 6006`, FAILED],
    [`cancel ${id}`],
    [`download ${id}`],
    [`results ${id}`],
    [`diff ${id}`],
    [`restore ${id} --into restored`],
    [`explain ${id}`, REFUSED], // it has not failed
    ['me'],
    ['sweep list'],
    ...['show', 'download', 'resume', 'cancel', 'best'].map((verb) => [`sweep ${verb} none`, REFUSED] as const),
    ['budget set vision --hard 100'],
    ['budget list'],
    ['budget remove vision'],
    ['secret list'],
    ['secret remove NONE', REFUSED],
    ['connect none --forget', REFUSED],
    ['machines'],
    ['logout'],
    ['index'],
    ['search sum'],
    ['flow run sum.mjs'],
    ['flow runs sum.mjs'],
    ['flow answer none --input 1', REFUSED],
    ['flow pin sum.mjs'],
    ['flow test'],
    ['flow eval sum.mjs --data cases.jsonl'],
    ['flow graph sum.mjs'],
    ['flow types'],
    ['flow check sum.mjs'],
    ['flow migrate sum.mjs'],
    ['completion bash'],
  ];
  const admin: typeof user = [
    ['account add ada'],
    ['account list'],
    ['account show ada'],
    ['account edit ada --name Ada'],
    ['account link ada --issuer https://id.example.org --subject ada'],
    ['account unlink ada'],
    ['account disable ada'],
    ['account enable ada'],
    ['account import accounts.csv'],
    ['account limits ada --running-jobs 2'],
    ['key add ada'],
    ['key list'],
    ['key rotate none', REFUSED],
    ['key revoke none', REFUSED],
    ['credits grant ada 5'],
    ['credits grant-all 1'],
    ['credits list ada'],
    ['group add lab'],
    ['group edit lab --credits 5'],
    ['group list'],
    ['group remove lab'],
    ['project add vision --credits 5'],
    ['project edit vision --credits 6'],
    ['project list'],
    ['project remove vision'],
    ['account delete bob'],
    ['jobs'],
    [`job ${id}`],
    [`cancel ${id}`],
    ['drain'],
    ['resume'],
    ['page'],
    ['usage'],
    ['audit'],
    ['disk'],
    [`backup ${backup}`],
  ];
  const verbs = verbsOf(
    describeProgram(
      locateProgramFiles(built('cli.mjs')),
      new Terminal({ isJson: false, ...nowhere() }),
      async () => {},
    ),
  );
  const lines = [
    ...user,
    ...admin.map(([line, exit]) => [`admin ${line} --data ${data}`, exit] as const),
    [`admin restore ${backup} --data ${join(scratch.root, 'restored')}`] as const,
  ];
  for (const [line, exit = 0] of lines) {
    const { exit: status, stderr } = await scratch.run(line.split(' '), { env, cwd });
    assert.equal(status, exit, `${line}: ${stderr}`);
    ran.add(verbs.find((verb) => `${line} `.startsWith(`${verb} `)) ?? line);
  }
  assert.deepEqual(
    verbs.filter((verb) => !ran.has(verb)),
    [],
  );
});

function nowhere() {
  const stream = { write: () => {} };
  return { stdout: stream, stderr: stream };
}
