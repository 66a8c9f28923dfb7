import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findToken, hasPrivateKey, SECRET_FORMATS } from '../../../../src/workspace/secrets/secretFormats.ts';
import { findSecretInBytes, SecretScanner } from '../../../../src/workspace/secrets/secretScanner.ts';

/** Nothing that looks like a token may stand in this file itself. */
const mixed = (length: number): string =>
  'Zk3pQ9vXw7LmN2bRt8YcHs5JdFg4TuEaVo6iBqWx1DzKrPy0GhUnMfCjSlAe'.repeat(4).slice(0, length);
const upper = (length: number): string => 'ZQ7XW3LN2BR5YCHJ6DFGTUEVOIKAPMS4'.repeat(4).slice(0, length);
const hex = (length: number): string => '9f3a7c1e5b8d2046af13c97e5d80b264'.repeat(4).slice(0, length);
const join = (...parts: readonly string[]): string => parts.join('');

/** A shortest token of each format. */
const TOKENS: readonly (readonly [name: string, token: string])[] = [
  ['AWS access key', join('AKIA', upper(16))],
  ['AWS access key', join('ASIA', upper(16))],
  ['AWS secret key', `aws_secret_access_key = ${mixed(40)}`],
  ['AWS secret key', `AwsSecretAccessKey: "${mixed(40)}`],
  ['Bedrock key', join('ABSK', mixed(80))],
  ['Bedrock key', join('bedrock-api-key-', mixed(80))],
  ['Bedrock token', `AWS_BEARER_TOKEN_BEDROCK=${mixed(40)}`],
  ...['p', 'o', 'u', 's', 'r'].map((kind) => ['GitHub token', join(`gh${kind}`, '_', mixed(36))] as const),
  ['GitHub token', join('github', '_pat_', mixed(22), '_', mixed(59))],
  ...['pat', 'dt', 'rt', 'ptt', 'soat', 'cbt'].map(
    (kind) => ['GitLab token', join(`gl${kind}`, '-', mixed(20))] as const,
  ),
  ['Slack token', join('xoxb', '-91827-', mixed(20))],
  ['Slack token', join('xapp', '-1-', upper(5), '-91827-', hex(40))],
  ['Anthropic key', join('sk-ant-', 'api03-', mixed(80))],
  ['OpenRouter key', join('sk-or', '-v1-', hex(64))],
  ...['proj', 'svcacct', 'admin', 'None'].map((kind) => ['OpenAI key', join('sk-', kind, '-', mixed(40))] as const),
  ['OpenAI key', join('sk-', mixed(20), 'T3Blbk', 'FJ', mixed(20))],
  ['model service key', join('sk-', hex(32))],
  ['model service key', join('sk-', mixed(48))],
  ['Groq key', join('gsk', '_', mixed(40))],
  ['xAI key', join('xai', '-', mixed(60))],
  ['Cerebras key', join('csk', '-', mixed(40))],
  ['Together key', join('tgp', '_v1_', mixed(40))],
  ['Farwharf API key', join('fw', '_', mixed(43))],
  ['Fireworks key', join('fw', '_', mixed(22))],
  ['Perplexity key', join('pplx', '-', mixed(40))],
  ['NVIDIA key', join('nvapi', '-', mixed(60))],
  ['LangSmith key', join('lsv2', '_pt_', hex(32), '_', hex(10))],
  ['Hugging Face token', join('hf', '_', mixed(34))],
  ['Replicate token', join('r8', '_', mixed(37))],
  ['npm token', join('npm', '_', mixed(36))],
  ['PyPI token', join('pypi', '-AgE', mixed(80))],
  ['Google API key', join('AIza', mixed(35))],
  ['Google access token', join('ya29', '.', mixed(60))],
  ['Google client secret', join('GOCSPX', '-', mixed(28))],
  ['Stripe key', join('sk', '_live_', mixed(24))],
  ['Stripe key', join('rk', '_live_', mixed(24))],
  ['SendGrid key', join('SG', '.', mixed(22), '.', mixed(43))],
  ...['o', 'p', 'r'].map((kind) => ['DigitalOcean token', join(`do${kind}`, '_v1_', hex(64))] as const),
  ['Databricks token', join('dapi', hex(32))],
  ['Docker token', join('dckr', '_pat_', mixed(27))],
  ...['at', 'ca', 'pa', 'ss'].map((kind) => ['Shopify token', join(`shp${kind}`, '_', hex(32))] as const),
  ['Vault token', join('hvs', '.', mixed(90))],
  ['age key', join('AGE-SECRET', '-KEY-1', upper(58))],
  ['Azure storage key', join('DefaultEndpointsProtocol=https;Account', 'Key=', mixed(86), '==')],
  ['key of a service', `WANDB_API_KEY=${mixed(30)}`],
  ['key of a service', `mistral_ai_api_token: '${mixed(30)}`],
];

test('a token of each format is found with its name, and one that is a character shorter is not', () => {
  for (const [name, token] of TOKENS) {
    assert.equal(findToken(token), name, token);
    assert.equal(findToken(`x = "${token}";`), name, token);
    assert.notEqual(findToken(token.slice(0, -1)), name, `short: ${token}`);
    assert.notEqual(findToken(`a${token}`), name, `a letter before it: ${token}`);
  }
});

test('the scanner finds each of them in a file, at its beginning, in the middle and at its end', () => {
  const filler = 'a line of words\n'.repeat(40);
  for (const [name, token] of TOKENS) {
    for (const text of [token, `${filler}key: ${token}\n${filler}`, `${filler}${token}`]) {
      assert.equal(findSecretInBytes(Buffer.from(text)), name, text.slice(-90));
    }
    const scanner = new SecretScanner();
    const cut = 2 * Math.floor(token.length / 4);
    assert.equal(scanner.scan(Buffer.from(`${filler}${token.slice(0, cut)}`)), undefined, token);
    assert.equal(scanner.scan(Buffer.from(`${token.slice(cut)}\n${filler}`)), name, `in two chunks: ${token}`);
  }
});

test('placeholders, and texts of few different characters, are no tokens', () => {
  const token = (middle: string): string => join('gh', 'p_', middle, mixed(36 - middle.length));
  assert.equal(findToken(token('')), 'GitHub token');
  for (const word of [
    'example',
    'PLACEHOLDER',
    'changeme',
    'redacted',
    'xxxx',
    'dummy',
    'Fake',
    '0000000',
    '1234567',
  ]) {
    assert.equal(findToken(token(word)), undefined, word);
  }
  assert.equal(findToken(`WANDB_API_KEY=your_${mixed(30)}`), undefined);
  // Three of the prefix, the underscore, and as many more as make nine or ten different ones.
  assert.equal(findToken(join('gh', 'p_', 'abcde'.repeat(8).slice(0, 36))), undefined);
  assert.equal(findToken(join('gh', 'p_', 'abcdef'.repeat(6))), 'GitHub token');
  assert.equal(findToken(join('fw', '_', mixed(22).toLowerCase())), undefined, 'a name without capital letters');
  assert.equal(findToken(join('fw', '_', 'AbcdefghijklmnopqrsTuv')), undefined, 'a name without digits');
});

test('a private key is found with real and with escaped line ends, and its first line alone is none', () => {
  const body = Buffer.from(Array.from({ length: 200 }, (_, i) => (i * 73 + 11) % 256)).toString('base64');
  for (const kind of ['', 'RSA ', 'EC ', 'OPENSSH ', 'ENCRYPTED ']) {
    const begin = join('-----BEGIN ', kind, 'PRIVATE', ' KEY-----');
    for (const end of ['\n', '\r\n', '\\n', '\\\\n'])
      assert.equal(hasPrivateKey(`${begin}${end}${body}`), true, `${kind}${end}`);
    assert.equal(hasPrivateKey(`${begin} is its first line.`), false);
    assert.equal(hasPrivateKey(begin.replace('PRIVATE', 'PUBLIC') + `\n${body}`), false);
  }
  const pgp = join('-----BEGIN PGP PRIVATE', ' KEY BLOCK-----\nVersion: GnuPG v2\n\n', body);
  assert.equal(hasPrivateKey(pgp), true);
  assert.equal(findSecretInBytes(Buffer.from(`text\n${pgp}`)), 'private key');
});

test('a private key of a documentation, or of few different characters, is none', () => {
  const key = (body: string): string => join('-----BEGIN PRIVATE', ' KEY-----\n', body);
  assert.equal(hasPrivateKey(key(mixed(200))), true);
  for (const body of [`EXAMPLE${mixed(193)}`, `xxxx${mixed(196)}`]) assert.equal(hasPrivateKey(key(body)), false, body);
});

test('binary data is not searched', () => {
  const [, token] = TOKENS[0] ?? assert.fail();
  const wide = Buffer.from(` ${token} `, 'utf16le');
  const binary = Buffer.concat([Buffer.alloc(64), Buffer.from(` ${token} `), wide, Buffer.alloc(63), wide]);
  assert.equal(findSecretInBytes(binary), undefined);
  const scanner = new SecretScanner();
  assert.deepEqual([scanner.scan(binary), scanner.scan(Buffer.from(token))], [undefined, undefined]);
});

test('what identifies the formats changes with each of them', () => {
  const lines = SECRET_FORMATS.split('\n');
  const names = new Set(TOKENS.map(([name]) => name));
  for (const name of names)
    assert.ok(
      lines.some((line) => line.startsWith(name) && line.length > name.length + 5),
      name,
    );
  assert.equal(new Set(lines).size, lines.length);
});

const pem = `${join('-----BEGIN ', 'RSA PRIVATE KEY-----')}\n${mixed(64)}\n${mixed(60)}\n`;
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const signed = join(
  part({ alg: 'RS256', kid: mixed(8) }),
  '.',
  part({ sub: mixed(9), exp: 1_900_000_000 }),
  '.',
  mixed(86),
);
const cluster = (user: string): string =>
  `apiVersion: v1\ncurrent-context: a\nkind: Config\nusers:\n- name: a\n  user:\n    ${user}\n`;
const login = `${mixed(9)}:${mixed(14)}`;

const BY_CONTENT: Readonly<Record<string, readonly string[]>> = {
  'cluster credentials': [
    cluster(`token: ${mixed(30)}`),
    cluster(`password: "${mixed(16)}"`),
    cluster(`client-key-data: ${Buffer.from(pem).toString('base64')}`),
  ],
  'private key in base64': [
    `KEY=${Buffer.from(pem).toString('base64')}`,
    `KEY=${Buffer.from(pem.replace('RSA ', '')).toString('base64')}`,
  ],
  'password in an address': [
    join('postgres', '://', login, '@db.prod.internal:5432/x'),
    join('URL = "mysql+pymysql', '://', login, '@10.0.0.7/x"'),
    join('{"url": "mongodb+srv', '://', login, '@cluster0.ab1cd.mongodb.net"}'),
    join('rediss', '://:', mixed(20), '@cache.prod.internal'),
    join('git clone https', '://', login, '@git.prod.internal/a.git'),
    join('postgres', '://app:', mixed(14), '@localhost/app'),
  ],
  webhook: [
    join('https', '://hooks.slack', '.com/services/T', upper(8), '/B', upper(10), '/', mixed(24)),
    join('https', '://discord', '.com/api/webhooks/918273645546372819/', mixed(68)),
  ],
  'WireGuard key': [`[Interface]\nPrivateKey = ${mixed(42)}E=\n`, `PresharedKey=${mixed(42)}E=`],
  'login of .netrc': [
    `machine api.prod.internal login me password ${mixed(14)}\n`,
    `# mine\nmachine a.b.io\n  login me\n  password ${mixed(9)}\n`,
  ],
  'signed token (JWT)': [signed, `Authorization: Bearer ${signed}`, `{"id_token":"${signed}"}`],
  'HubSpot token': [join('pat-', 'na1-', hex(8), '-', hex(4), '-', hex(4), '-', hex(4), '-', hex(12))],
  'Terraform token': [join(mixed(14), '.atlasv1.', mixed(67))],
  'Azure client secret': [join('Ab3', '8Q~', mixed(34))],
  'Telegram bot token': [join('9182736455', ':AAF', mixed(32))],
};

test('secrets without a prefix are found by what is around them', () => {
  for (const [name, texts] of Object.entries(BY_CONTENT)) {
    for (const text of texts) {
      assert.equal(findSecretInBytes(Buffer.from(text)), name, text);
      assert.equal(findSecretInBytes(Buffer.from(`${'some text\n'.repeat(50)}${text}`)), name, text);
      assert.equal(findSecretInBytes(Buffer.from(`\uFEFF${text}`, 'utf16le')), name, `UTF-16: ${text}`);
    }
  }
});

test('examples, templates, public keys and certificates are no secrets', () => {
  const texts = [
    'postgres://user:password@localhost:5432/db',
    'postgres://postgres:postgres@db.prod.internal/app',
    'mysql://root:root@db/app',
    'redis://:${REDIS_PASSWORD}@redis.prod.internal:6379',
    'https://user:s3cretvalue@example.com/',
    'amqp://guest:guest@rabbitmq:5672//',
    'postgresql://<user>:<password>@<host>/db',
    'http://{user}:{password}@{host}',
    'http://localhost:8080/a@b',
    'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX',
    'machine example.com login me password secret',
    'The machine learns.\nmachine learning needs no login or password.',
    'PrivateKey = <your key>',
    `PublicKey = ${mixed(42)}E=`,
    cluster('token: ${TOKEN}'),
    cluster('exec:\n      command: aws'),
    `ca-data: ${Buffer.from(pem.replaceAll('RSA PRIVATE KEY', 'CERTIFICATE')).toString('base64')}`,
    join('eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.', 'eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0.', mixed(43)),
    join('eyJub3QiOiJhIHRva2VuIn0.', 'eyJzdWIiOiJhYmNkZWZnaCJ9.', mixed(43)),
  ];
  for (const text of texts) assert.equal(findSecretInBytes(Buffer.from(`${text}\n`)), undefined, text);
});
