import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { jsonLines, Scratch, startFake } from './commandLine.ts';
import { built } from './support/built.ts';
import { runLine, whyNoTerminal } from './support/shell.ts';

const VALUE = 'the-value-of-a-token';
const FILES = {
  'a.sh': 'echo "token: $API_TOKEN, $(printf %s "$API_TOKEN" | wc -c) characters"\n',
  'farwharf.json': JSON.stringify({ profiles: { deploy: { script: 'a.sh', secrets: ['API_TOKEN'] } } }),
};
const skip = whyNoTerminal() ?? false;

test('a secret is set from standard input, listed without its value, given to a job, and removed', async () => {
  await using scratch = await Scratch.create();
  const { env, data } = await scratch.serve();
  await scratch.folder('project', FILES);
  await writeFile(join(scratch.root, 'value.txt'), `${VALUE}\n`);
  const set = await runLine(scratch, 'farwharf secret set API_TOKEN --json < value.txt; farwharf secret list --json', {
    env,
  });
  assert.deepEqual(set.statuses, [0, 0], set.stderr);
  const [named, listed = {}] = jsonLines(set.stdout);
  assert.deepEqual(named, { name: 'API_TOKEN' });
  const [secret] = listed['secrets'] as { name: string; changed_at: string }[];
  assert.deepEqual(Object.keys(secret ?? {}), ['name', 'changed_at']);
  const submit = ['submit', 'project', '--script', 'a.sh', '--secret', 'API_TOKEN', '--watch'];
  const done = await scratch.run(submit, { env });
  assert.equal(done.exit, 0, done.stderr);
  assert.equal(done.stdout, `token: [redacted], ${VALUE.length} characters\n`);
  const backup = `farwharf admin backup backup.tar.gz --data '${data}' && tar -xzOf backup.tar.gz | grep -c the-value; tar -tzf backup.tar.gz`;
  assert.doesNotMatch((await runLine(scratch, backup, { env })).stdout, /^[1-9]|secrets\.key/m);
  const used = await runLine(scratch, 'farwharf jobs --json; farwharf secret remove API_TOKEN; farwharf secret list', {
    env,
  });
  assert.match(used.stdout, /removed from 127\.0\.0\.1.*\nYou have no secrets\.\n$/);
  for (const text of [set.stdout, set.stderr, done.stderr, used.stdout]) assert.doesNotMatch(text, /the-value/);
  assert.doesNotMatch(readFileSync(join(data, 'service.db'), 'latin1'), /the-value/);
});

test('what cannot be a secret is refused before anything is sent, and a missing one before the upload', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  await scratch.folder('project', FILES);
  const refused = await runLine(
    scratch,
    `echo "${VALUE}" | farwharf secret set LD_PRELOAD; echo abc | farwharf secret set API_TOKEN
     printf '' | farwharf secret set API_TOKEN; farwharf secret set API_TOKEN the-value 2>&1 < /dev/null
     farwharf secret remove API_TOKEN; farwharf secret set 2>&1; printf 'caf\\351-latin1' | farwharf secret set API_TOKEN`,
    { env },
  );
  assert.deepEqual(refused.statuses, [2, 2, 2, 2, 2, 2, 2], refused.stderr);
  assert.match(
    refused.stderr,
    /The value of a secret must be text in UTF-8\. Encode other bytes, for example with base64/,
  );
  assert.match(refused.stderr, /LD_PRELOAD cannot be a secret: the name is a variable that changes which programs run/);
  assert.match(refused.stderr, /The value of a secret must have at least 4 characters/);
  assert.match(refused.stderr, /The secret API_TOKEN does not exist on 127\.0\.0\.1/);
  for (const flags of [['--dry-run'], []]) {
    const missing = await scratch.run(['submit', 'project', '--script', 'a.sh', '--secret', 'API_TOKEN', ...flags], {
      env,
    });
    assert.equal(missing.exit, 2);
    assert.match(
      missing.stderr,
      /The secret API_TOKEN is not set on 127\.0\.0\.1\S*\. Set it with farwharf secret set NAME/,
    );
    assert.doesNotMatch(missing.stderr, /packed|uploaded/);
  }
});

test('a service that stores no secrets is asked for its account and gets nothing else', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', FILES);
  const requests: string[] = [];
  await using fake = await startFake((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    request.resume();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ account_id: 'ada', plan: 'team', credits: 10, rate_card: [] }));
  });
  const { env } = fake;
  const { statuses, stderr } = await runLine(
    scratch,
    `echo "${VALUE}" | farwharf secret set API_TOKEN; farwharf secret list`,
    {
      env,
    },
  );
  assert.deepEqual(statuses, [1, 1]);
  assert.match(stderr, /does not store secrets, so nothing was sent/);
  const submit = await scratch.run(['submit', folder, '--script', 'a.sh', '--secret', 'API_TOKEN'], { env });
  assert.equal(submit.exit, 2);
  assert.match(submit.stderr, /does not store secrets\. The job asks for API_TOKEN.*Nothing was sent/);
  assert.deepEqual([...new Set(requests)], ['GET /v1/me']);
});

test('a secret that is to be removed from results is set only on a service that does so', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const line = `echo "${VALUE}" | farwharf secret set API_TOKEN --redact-results; farwharf secret list`;
  const { statuses, stdout } = await runLine(scratch, line, { env });
  assert.deepEqual(statuses, [0, 0]);
  assert.match(stdout, /NAME +SET +IN RESULTS\nAPI_TOKEN .* removed\n$/);
  const requests: string[] = [];
  await using fake = await startFake((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    request.resume();
    response.setHeader('content-type', 'application/json');
    const account = { account_id: 'ada', plan: 'team', credits: 10, rate_card: [], features: ['secrets'] };
    response.end(JSON.stringify(request.method === 'PUT' ? { name: 'API_TOKEN' } : account));
  });
  const refused = await runLine(scratch, `echo "${VALUE}" | farwharf secret set API_TOKEN --redact-results`, fake);
  assert.deepEqual(refused.statuses, [1]);
  assert.match(refused.stderr, /cannot remove secrets from results, so nothing was sent/);
  assert.deepEqual([...new Set(requests)], ['GET /v1/me']);
});

test('a command that waits for a value stops at SIGTERM', { timeout: 60_000 }, async (t) => {
  await using scratch = await Scratch.create();
  await using fake = await startFake((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    response.once('finish', () => child.kill('SIGTERM'));
    response.end(
      JSON.stringify({ account_id: 'ada', plan: 'team', credits: 10, rate_card: [], features: ['secrets'] }),
    );
  });
  const child = spawn(process.execPath, [built('cli.mjs'), 'secret', 'set', 'API_TOKEN'], {
    env: { PATH: process.env['PATH'], FARWHARF_HOME: scratch.home, ...fake.env },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  t.after(() => child.kill('SIGKILL'));
  assert.deepEqual(await once(child, 'exit'), [143, null]);
});

test('the profiles of a folder use a secret only if the user allows it', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  await scratch.folder('project', FILES);
  const line = `echo "${VALUE}" | farwharf secret set API_TOKEN; farwharf submit project --profile deploy
    farwharf submit project --profile deploy --secret API_TOKEN --watch`;
  const { statuses, stdout, stderr } = await runLine(scratch, line, { env });
  assert.deepEqual(statuses, [0, 1, 0], stderr);
  assert.match(
    stderr,
    /Profile deploy gives your secret API_TOKEN to the job\. You have not allowed this.*Allow it with --secret API_TOKEN/,
  );
  assert.match(stdout, /token: \[redacted\], 20 characters/);
});

test('a value that is asked for at a terminal is not shown', { skip }, async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const command = `${process.execPath} ${built('cli.mjs')} secret set API_TOKEN`;
  const line = `touch screen; (while ! grep -q 'Value of' screen; do sleep 0.1; done; printf '${VALUE}\\r'; while ! grep -q 'is set' screen; do sleep 0.1; done) |
    script -qefc '${command}' screen; farwharf secret list`;
  const { stdout, stderr } = await runLine(scratch, line, { env });
  const screen = readFileSync(join(scratch.root, 'screen'), 'utf8');
  assert.match(screen, /Value of API_TOKEN: /, stderr);
  assert.match(stdout, /^API_TOKEN +2/m);
  assert.doesNotMatch(screen.replace(/^Script started.*$/m, '') + stdout, /the-value/);
});

for (const [signal, exit] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const) {
  test(`${signal} ends a command that reads from a pipe in which nothing more comes`, {
    skip: process.platform === 'win32',
  }, async () => {
    await using scratch = await Scratch.create();
    await using fake = await startFake((_, response) => void response.end('{"features":["secrets"]}'));
    const child = spawn(process.execPath, [built('cli.mjs'), 'secret', 'set', 'API_TOKEN'], {
      env: { PATH: process.env['PATH'], FARWHARF_HOME: scratch.home, ...fake.env },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const ended = once(child, 'exit');
    // More than fits into the pipe, so that it is reading once all of it is written.
    await new Promise((resolve) => child.stdin.write(Buffer.alloc(300_000, 'x'), resolve));
    child.kill(signal);
    assert.deepEqual(await ended, [exit, null]);
  });
}
