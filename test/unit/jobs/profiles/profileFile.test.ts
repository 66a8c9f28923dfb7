import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { profileJsonSchema, SCHEMA_PATH } from '../../../../scripts/profileSchema.ts';
import { findProfile, parseProfiles, positionAt, readProfiles } from '../../../../src/jobs/profiles/profileFile.ts';
import { tempHome } from '../fixtures.ts';

const profile = (text: string): string => `{ "profiles": { "train": { "script": "train.py", ${text} } } }`;
const problemsOf = (text: string): string[] => parseProfiles(text).problems.map(({ message }) => message);

test('the profiles of a file come in its order, each with its place', () => {
  const text = '{"profiles": {"train": {"script": "t.py"}, "2": {"script": "e.py", "maxRuntime": 60}}}';
  const { profiles, problems } = parseProfiles(text);
  assert.deepEqual(problems, []);
  const train = findProfile(profiles, 'train');
  assert.equal(text.slice(train.start, train.start + 7), '"train"');
  const { start, end } = findProfile(profiles, '2').range('maxRuntime');
  assert.equal(text.slice(start, end), '60');
});

test('each error is reported at its place', () => {
  const cases: readonly (readonly [field: string, message: RegExp, place: string])[] = [
    ['"maxRuntim": 1', /^Unknown field "maxRuntim"\.$/, '"maxRuntim": 1'],
    ['"maxRuntime": "1h"', /^Must be a number\.$/, '"1h"'],
    ['"maxRuntime": 0', /^Must be at least 1 second\.$/, '0'],
    ['"maxRuntime": 1e300', /^Must be at most 2592000 seconds \(30 days\)\.$/, '1e300'],
    ['"include": "a"', /^Must be a list\.$/, '"a"'],
    ['"script2": 1', /Unknown field/, '"script2": 1'],
    ['"service": "https://gpu.example.org"', /not a URL/, '"https://gpu.example.org"'],
    ['"service": "user:key@gpu.example.org"', /not a URL/, '"user:key@gpu.example.org"'],
    ['"include": ["../.ssh/id_rsa"]', /inside the folder/, '"../.ssh/id_rsa"'],
    ['"include": ["a/../../b"]', /inside the folder/, '"a/../../b"'],
    ['"include": ["/etc/passwd"]', /inside the folder/, '"/etc/passwd"'],
    ['"results": ".git/hooks"', /hidden names/, '".git/hooks"'],
    ['"results": "out/../.."', /hidden names/, '"out/../.."'],
    ['"results": "a\\\\b"', /hidden names/, '"a\\\\b"'],
    ['"results": "a/ "', /hidden names/, '"a/ "'],
    ['"results": "a\\u202eb"', /invisible/, '"a\\u202eb"'],
    ['"results": "a\\u001b[2J"', /invisible/, '"a\\u001b[2J"'],
    [`"results": "${'r'.repeat(81)}"`, /80 characters/, `"${'r'.repeat(81)}"`],
    ['"arguments": ["a\\nb"]', /one line/, '"a\\nb"'],
    ['"arguments": ["${env:A-B}"]', /variables are \$\{env:NAME\}/, '"${env:A-B}"'],
    ['"environment": {"A": "${home}"}', /variables are \$\{env:NAME\}/, '"${home}"'],
    ['"environment": {"FARWHARF_HOME": "/"}', /name of an environment variable/, '"FARWHARF_HOME": "/"'],
  ];
  for (const [field, message, place] of cases) {
    const text = profile(field);
    const [problem, ...others] = parseProfiles(text).problems;
    assert.match(problem?.message ?? '', message, field);
    assert.equal(text.slice(problem?.start, problem?.end), place);
    assert.deepEqual(others, [], field);
  }
  assert.deepEqual(problemsOf('{ "profiles": { "a": {} } }'), ['Must have "script" or "command".']);
  assert.deepEqual(problemsOf('{}'), ['"profiles": This field is missing.']);
  assert.equal(problemsOf('[]').length, 1);
  assert.match(problemsOf('{ "profiles": { "a b": { "script": "x" } } }').join(''), /letters, digits/);
});

test('a file with errors is refused with line and column of each', async (t) => {
  const folder = tempHome(t);
  await assert.rejects(readProfiles(folder), { code: 'missing', message: /has no profiles/ });
  const write = (text: string): void => writeFileSync(join(folder, 'farwharf.json'), text);
  write('{\n  "profiles": {\n    "a": { "script": 1 },\n    "b": { "scrpt": "x" }\n  }\n}');
  await assert.rejects(readProfiles(folder), {
    code: 'bad-input',
    message:
      /^farwharf\.json:3:22: .* farwharf\.json:4:12: Unknown field "scrpt"\. farwharf\.json:4:10: Must have "script" or "command"\.$/,
  });
  write('{ "profiles": { "a": { "script": "x" }, } }');
  await assert.rejects(readProfiles(folder), { message: /^farwharf\.json:1:41: Expected a name in quotes/ });
  write(`{ "profiles": {}, "$schema": "${'x'.repeat(300_000)}" }`);
  await assert.rejects(readProfiles(folder), { code: 'bad-input', message: /larger than 256 KB/ });
});

test('an unknown name is refused with the names that exist, the nearest first', () => {
  const { profiles } = parseProfiles('{"profiles": {"eval": {"script": "e.py"}, "train": {"script": "t.py"}}}');
  assert.throws(() => findProfile(profiles, 'trian'), {
    code: 'missing',
    message: /Profile trian does not exist, so nothing was sent\. Profiles in farwharf\.json: train, eval\./,
  });
  assert.throws(() => findProfile([], 'train'), /farwharf\.json has none/);
});

test('positions count lines and columns from 1', () => {
  assert.deepEqual(positionAt('ab\ncd', 4), { line: 2, column: 2 });
  assert.deepEqual(positionAt('', 0), { line: 1, column: 1 });
});

test('the schema for editors agrees with the one that reads the file; node scripts/profileSchema.ts writes it', () => {
  assert.deepEqual(JSON.parse(readFileSync(SCHEMA_PATH, 'utf8')), JSON.parse(JSON.stringify(profileJsonSchema())));
});

test('every problem of a file is said, five of them in the refusal', async (t) => {
  const folder = tempHome(t);
  const fields = Array.from({ length: 7 }, (_, index) => `"f${index}": 1`).join(', ');
  writeFileSync(join(folder, 'farwharf.json'), `{ "profiles": { "a": { "script": "x", ${fields} } } }`);
  const place = (index: number): number => `{ "profiles": { "a": { "script": "x", `.length + 1 + index * 9;
  const said = Array.from({ length: 5 }, (_, index) => `farwharf.json:1:${place(index)}: Unknown field "f${index}".`);
  await assert.rejects(readProfiles(folder), { code: 'bad-input', message: `${said.join(' ')} And 2 more.` });
});

test('a folder without profiles, and a file that is too large, are said with what to do', async (t) => {
  const folder = tempHome(t);
  await assert.rejects(readProfiles(folder), {
    code: 'missing',
    message: `${folder} has no profiles. Describe them in the file farwharf.json.`,
  });
  const gone = join(folder, 'gone');
  const message = `The folder ${gone} does not exist. Check the path.`;
  await assert.rejects(readProfiles(gone), { code: 'missing', message });
  const path = join(folder, 'farwharf.json');
  const filled = (bytes: number): string => '{ "profiles": {} }'.padEnd(bytes);
  writeFileSync(path, filled(256_000));
  assert.deepEqual(await readProfiles(folder), []);
  writeFileSync(path, filled(256_001));
  await assert.rejects(readProfiles(folder), {
    code: 'bad-input',
    message: `${path} cannot be read, or is larger than 256 KB.`,
  });
});

test('an unknown profile is said with the twenty nearest names', () => {
  const text = JSON.stringify({
    profiles: Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`p${index + 10}`, { script: 'x' }])),
  });
  const { profiles } = parseProfiles(text);
  assert.equal(profiles.length, 21);
  assert.throws(
    () => findProfile(profiles, 'p\u001b[2J10'),
    ({ message }: Error) => {
      assert.match(message, /^Profile p10 does not exist, so nothing was sent\. Profiles in farwharf\.json: p10, /);
      assert.equal(message.split(', ').length, 21);
      return true;
    },
  );
  assert.throws(() => findProfile([], 'x'), {
    message: 'Profile x does not exist, so nothing was sent. farwharf.json has none.',
  });
});

test('a field that a profile does not have is at the profile', () => {
  const text = '{"profiles": {"a": {"script": "x"}}}';
  const { start, end } = findProfile(parseProfiles(text).profiles, 'a').range('project');
  assert.equal(text.slice(start, end), '{"script": "x"}');
});
