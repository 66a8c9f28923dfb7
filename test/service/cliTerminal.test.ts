import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textWidth } from '../../src/core/text/textWidth.ts';
import { jsonLines, Scratch } from './commandLine.ts';
import { runInTerminal, whyNoTerminal } from './support/shell.ts';

const skip = whyNoTerminal() ?? false;
// The escape character, and a carriage return that does not end a line.
const ESCAPES = /\u001b|\r(?!\n)/;

test('tables fit a terminal of 40 columns, with whole ids and every row on one line', { skip }, async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  await scratch.folder('project', {
    '東京/とても長い名前のプログラム.sh': 'true',
    'a script with a name.sh': 'echo made > out.txt',
  });
  const ids: string[] = [];
  for (const script of ['東京/とても長い名前のプログラム.sh --epochs 3', '"a script with a name.sh" --option value']) {
    const sent = await scratch.run(['submit', 'project', '--script', script, '--watch', '--json'], { env });
    assert.equal(sent.exit, 0, sent.stderr);
    ids.push(String(jsonLines(sent.stdout)[0]?.['job_id']));
  }
  const data = `--data '${scratch.root}/service-0'`;
  const added = await runInTerminal(
    scratch,
    `farwharf admin account add a-long-account-name --name 'Ada King, Countess of Lovelace' --credits 1234.5 ${data};
     farwharf admin key add a-long-account-name --label 'the notebook at home' --expires 90d ${data}`,
    { columns: 120, env },
  );
  assert.deepEqual(added.statuses, [0, 0], added.stdout);
  const keyId = /Key (\S+) of/.exec(added.stdout)?.[1] ?? '-';
  for (const [command, whole] of [
    ['jobs', ids],
    ['me', ['local']],
    [`admin account list ${data}`, ['a-long-account-name']],
    [`admin key list ${data}`, [keyId]],
    [`admin credits list a-long-account-name ${data}`, ['1,234.5']],
    [`admin usage ${data}`, ['CREDITS']],
    [`admin disk ${data}`, ['WORKSPACES', ...ids]],
  ] as const) {
    const { statuses, stdout } = await runInTerminal(scratch, `farwharf ${command}`, { columns: 40, env });
    assert.deepEqual(statuses, [0], stdout);
    const lines = stdout.split('\r\n').slice(0, -1);
    const table = lines.slice(lines.findIndex((line) => /^[A-Z]/.test(line) && line === line.toUpperCase()));
    for (const text of whole) {
      assert.equal(table.filter((line) => line.includes(text)).length, 1, `${command}: ${text} in\n${stdout}`);
    }
    assert.ok(table.length >= 2, stdout);
    for (const line of table) {
      const isSentence = line.endsWith('.');
      assert.ok(isSentence || textWidth(line) <= 40, `${textWidth(line)} columns: ${line}`);
    }
  }
});

test('a dumb terminal and a CI system get no escape sequences but what was asked for', { skip }, async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  await scratch.folder('project', { 'run.sh': "printf '\\033[31mred\\033[0m\\n'; printf '10 %%\\r20 %%\\n'" });
  const line = 'farwharf submit project --script run.sh --watch; farwharf search red --folder project';
  const shown = await runInTerminal(scratch, line, { columns: 80, env });
  assert.deepEqual(shown.statuses, [0, 0], shown.stdout);
  assert.match(shown.stdout, /\u001b\[31mred/);
  assert.match(shown.stdout, /\r\u001b\[2K/);
  const dumb = await runInTerminal(scratch, line, { columns: 80, env: { ...env, TERM: 'dumb' } });
  assert.deepEqual(dumb.statuses, [0, 0], dumb.stdout);
  assert.match(dumb.stdout, /^red\r$/m);
  assert.doesNotMatch(dumb.stdout, ESCAPES);
  const plain = await runInTerminal(scratch, line, { columns: 80, env: { ...env, CI: '1', NO_COLOR: '1' } });
  assert.doesNotMatch(plain.stdout, ESCAPES);
});
