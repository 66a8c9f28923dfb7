// How well secrets are found by content: made-up secrets of each kind in the files where they are usual, and harmless files that resemble
// them: made ones (notebooks, lock files, hashes, test data) and the text files of the packages that are installed here. Prints the share
// that is found, the harmless files that are held back, and the speed.
import { createHash } from 'node:crypto';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findSecretInBytes } from '../src/workspace/secrets/secretScanner.ts';

const COPIES = 40;
const MOST_FILES = 20_000;
const MIN_FOUND = 0.98;
const MAX_HELD_BACK = 0.001;
const [LOWER, UPPER, DIGIT] = ['abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', '0123456789'];
const ALL = LOWER + UPPER + DIGIT;
const HEX = `${DIGIT}abcdef`;

let seed = 20_261_129;
function random(below: number): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
}
function some(length: number, alphabet = ALL): string {
  return Array.from({ length }, () => alphabet.charAt(random(alphabet.length))).join('');
}
function bytes(length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random(256)));
}
function pem(kind: string): string {
  const lines =
    bytes(1_200)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${kind}PRIVATE KEY-----\n${lines.join('\n')}\n-----END ${kind}PRIVATE KEY-----\n`;
}
function jwt(): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256', typ: 'JWT', kid: some(12) })}.${part({ sub: some(12), iss: `https://${some(6, LOWER)}.io`, exp: 1_800_000_000 })}.${bytes(64).toString('base64url')}`;
}
const host = (): string => `${some(8, LOWER)}.${some(6, LOWER)}.internal`;
const uuid = (): string => [8, 4, 4, 4, 12].map((length) => some(length, HEX)).join('-');

const KINDS: Readonly<Record<string, () => string>> = {
  'private key': () => pem(['RSA ', 'EC ', 'OPENSSH ', '', 'ENCRYPTED '][random(5)] ?? ''),
  'private key in base64': () => Buffer.from(pem(['RSA ', 'EC ', ''][random(3)] ?? '')).toString('base64'),
  kubeconfig: () =>
    `apiVersion: v1\nclusters:\n- cluster:\n    server: https://${host()}:6443\n  name: a\ncontexts: []\ncurrent-context: a\nkind: Config\npreferences: {}\nusers:\n- name: a\n  user:\n    ${random(2) === 0 ? `token: ${some(40)}` : `client-key-data: ${Buffer.from(pem('RSA ')).toString('base64')}`}\n`,
  'postgres://': () =>
    `postgres${random(2) === 0 ? 'ql' : ''}://${some(6, LOWER)}:${some(14)}@${host()}:5432/${some(5, LOWER)}`,
  'mysql://, mongodb://, redis://, amqp://': () =>
    `${['mysql+pymysql', 'mongodb+srv', 'rediss', 'amqps'][random(4)]}://${some(6, LOWER)}:${some(16)}@${host()}/x`,
  'https:// with a password': () => `https://${some(8, LOWER)}:${some(20)}@git.${some(6, LOWER)}.com/a/b.git`,
  'Slack webhook': () =>
    `https://hooks.slack.com/services/T${some(8, UPPER + DIGIT)}/B${some(10, UPPER + DIGIT)}/${some(24)}`,
  'Discord webhook': () => `https://discord.com/api/webhooks/${some(18, '123456789')}/${some(68)}`,
  'WireGuard key': () => `[Interface]\nPrivateKey = ${bytes(32).toString('base64')}\nAddress = 10.0.0.2/32\n`,
  netrc: () => `machine ${host()} login ${some(6, LOWER)} password ${some(14)}`,
  JWT: jwt,
  'GitHub token': () => `ghp_${some(36)}`,
  'AWS access key': () => `AKIA${some(16, `${UPPER}234567`)}`,
  'Hugging Face token': () => `hf_${some(34)}`,
  'OpenAI key': () => `sk-proj-${some(80)}`,
  'Anthropic key': () => `sk-ant-api03-${some(93)}AA`,
  'Slack token': () => `xoxb-${some(12, '123456789')}-${some(12, '123456789')}-${some(24)}`,
  'GitLab token': () => `glpat-${some(20)}`,
  'Stripe key': () => `sk_live_${some(30)}`,
  'SendGrid key': () => `SG.${some(22)}.${some(43)}`,
  'Telegram bot token': () => `${some(10, '123456789')}:AAF${some(32)}`,
  'Notion token': () => `ntn_${some(46)}`,
  'Grafana token': () => `glsa_${some(32)}_${some(8, HEX)}`,
  'Linear key': () => `lin_api_${some(40)}`,
  'HubSpot token': () => `pat-na1-${uuid()}`,
  'Postman key': () => `PMAK-${some(24, HEX)}-${some(34, HEX)}`,
  'Doppler token': () => `dp.pt.${some(43)}`,
  'Dynatrace token': () => `dt0c01.${some(24, UPPER + DIGIT)}.${some(64, UPPER + DIGIT)}`,
  'Terraform token': () => `${some(14)}.atlasv1.${some(67)}`,
  'Azure client secret': () => `${some(3)}8Q~${some(34)}`,
  'Azure storage key': () =>
    `DefaultEndpointsProtocol=https;AccountName=${some(8, LOWER)};AccountKey=${bytes(64).toString('base64')};EndpointSuffix=core.windows.net`,
  'Sentry token': () => `sntryu_${some(64, HEX)}`,
  'Tailscale key': () => `tskey-auth-${some(11)}CNTRL-${some(32)}`,
  'Supabase key': () => `sbp_${some(40, HEX)}`,
  'Pulumi token': () => `pul-${some(40, HEX)}`,
  'RubyGems key': () => `rubygems_${some(48, HEX)}`,
  'Twilio key': () => `SK${some(32, HEX)}`,
  'Mailgun key': () => `key-${some(32, HEX)}`,
  'Square token': () => `sq0atp-${some(22)}`,
};
/** Files of their own. */
const FILES = new Set(['kubeconfig', 'netrc', 'WireGuard key']);
/** Where people leave the others. */
const PLACES: readonly ((secret: string) => string)[] = [
  (secret) => `# settings\nDEBUG=1\nVALUE=${secret}\n`,
  (secret) => `${'x = 1\n'.repeat(300)}client = connect("${secret.replaceAll('\n', '\\n')}")\n`,
  (secret) => JSON.stringify({ name: 'app', settings: { value: secret, retries: 3 } }, null, 2),
  (secret) =>
    JSON.stringify({
      cells: [{ cell_type: 'code', source: [`token = '${secret}'\n`], outputs: [{ text: [secret] }] }],
    }),
];

const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');
const HARMLESS: Readonly<Record<string, () => string>> = {
  'notebook with pictures': () =>
    JSON.stringify({
      cells: [{ outputs: [{ data: { 'image/png': `iVBORw0KGgo${bytes(30_000).toString('base64')}` } }] }],
    }),
  'notebook with model weights': () =>
    JSON.stringify({ cells: [{ outputs: [{ text: [bytes(20_000).toString('base64url')] }] }] }),
  'package-lock.json': () =>
    lines(300, () => `"node_modules/${some(8, LOWER)}": { "integrity": "sha512-${bytes(64).toString('base64')}" },`),
  'poetry.lock': () =>
    lines(300, () => `    {file = "${some(8, LOWER)}-1.0.tar.gz", hash = "sha256:${some(64, HEX)}"},`),
  'go.sum': () =>
    lines(300, () => `github.com/${some(6, LOWER)}/${some(8, LOWER)} v1.2.3 h1:${bytes(32).toString('base64')}`),
  checksums: () => lines(300, () => `${some(64, HEX)}  ${some(10, LOWER)}.bin`),
  commits: () => lines(300, () => `${some(40, HEX)} ${some(8, LOWER)} ${some(12, LOWER)}`),
  'table of UUIDs': () => lines(300, (index) => `${index},${uuid()},${some(22)},${random(1e6)}`),
  'short random names': () => lines(500, () => `${some(8 + random(16))} ${some(32, HEX)} ${some(20)}`),
  certificate: () =>
    `-----BEGIN CERTIFICATE-----\n${bytes(1_200)
      .toString('base64')
      .match(/.{1,64}/g)
      ?.join('\n')}\n-----END CERTIFICATE-----\n`,
  'certificate in base64': () =>
    `ca-data: ${Buffer.from(`-----BEGIN CERTIFICATE-----\n${bytes(900).toString('base64')}`).toString('base64')}`,
  'public keys': () =>
    lines(
      30,
      () =>
        `ssh-rsa AAAAB3NzaC1yc2E${bytes(250).toString('base64')} me@host\nPublicKey = ${bytes(32).toString('base64')}`,
    ),
  'examples of addresses': () =>
    'postgres://user:password@localhost:5432/db\nmysql://root:root@db/app\nredis://:${REDIS_PASSWORD}@redis:6379\nhttps://user:pass@example.com/\npostgresql://<user>:<password>@<host>/db\namqp://guest:guest@rabbitmq:5672//\nmongodb://admin:changeme@mongo.example.org/\nhttp://{user}:{password}@{host}\n',
  'examples of tokens': () =>
    'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\nAKIAIOSFODNN7EXAMPLE\nsk-your_key_here_your_key_here_your_key_here\nhttps://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX\neyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c\nmachine example.com login me password secret\nPrivateKey = <your private key>\n',
  prose: () =>
    lines(
      200,
      () => `The machine learning of ${some(6, LOWER)} at http://${some(6, LOWER)}.org:80/${some(9)} needs a token.`,
    ),
  'minified code': () =>
    lines(20, () => `!function(${some(1, LOWER)}){var ${some(2)}="${some(30)}",${some(3)}=${some(200)};}();`),
};

function share(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(part === whole || part === 0 ? 0 : 2)} %`;
}

let [found, made] = [0, 0];
const missed: string[] = [];
for (const [name, make] of Object.entries(KINDS)) {
  let hits = 0;
  for (let copy = 0; copy < COPIES; copy += 1) {
    const text = (FILES.has(name) ? String : (PLACES[copy % PLACES.length] ?? String))(make());
    if (findSecretInBytes(Buffer.from(text)) !== undefined) hits += 1;
  }
  found += hits;
  made += COPIES;
  if (hits < COPIES) missed.push(`  ${name}: ${hits} of ${COPIES}`);
}
process.stdout.write(
  `found: ${found} of ${made} made-up secrets of ${Object.keys(KINDS).length} kinds (${share(found, made)})\n${missed.map((line) => `${line}\n`).join('')}`,
);

let [held, harmless] = [0, 0];
for (const [name, make] of Object.entries(HARMLESS)) {
  const reasons = new Set<string>();
  for (let copy = 0; copy < COPIES; copy += 1) {
    const reason = findSecretInBytes(Buffer.from(make()));
    harmless += 1;
    if (reason === undefined) continue;
    held += 1;
    reasons.add(reason);
  }
  if (reasons.size > 0) process.stdout.write(`  held back: ${name} (${[...reasons].join(', ')})\n`);
}
process.stdout.write(`held back: ${held} of ${harmless} made harmless files (${share(held, harmless)})\n`);

const root = join(import.meta.dirname, '../node_modules');
const paths = globSync('**/*.{js,ts,json,md,yml,yaml,txt,cjs,mjs,html,css,map}', { cwd: root })
  .map((name) => join(root, name))
  .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
  .map((path) => ({ path, order: createHash('sha1').update(path.slice(root.length)).digest('hex') }))
  .toSorted((a, b) => (a.order < b.order ? -1 : 1))
  .slice(0, MOST_FILES);
let [read, heldReal, seconds] = [0, 0, 0];
for (const { path } of paths) {
  const text = readFileSync(path);
  const started = process.cpuUsage();
  const reason = findSecretInBytes(text);
  seconds += process.cpuUsage(started).user / 1e6;
  read += text.length;
  if (reason === undefined) continue;
  heldReal += 1;
  process.stdout.write(`  held back: ${path.slice(root.length + 1)} (${reason})\n`);
}
process.stdout.write(
  `held back: ${heldReal} of ${paths.length} files of installed packages (${share(heldReal, paths.length)}); ${(read / 1e6 / seconds).toFixed(0)} MB/s\n`,
);
const isGood = found / made >= MIN_FOUND && held === 0 && heldReal / paths.length <= MAX_HELD_BACK;
process.exitCode = isGood ? 0 : 1;
