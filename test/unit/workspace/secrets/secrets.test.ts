import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PROVIDER_NAMES, resolveEndpoint } from '../../../../src/agents/llm/providers.ts';
import { packSelection } from '../../../../src/workspace/pack/pack.ts';
import { type Selection, selectFiles } from '../../../../src/workspace/select/selection.ts';
import { temporaryFolder, writeTree } from '../temporaryFolder.ts';

const pathsOf = ({ files }: Selection): string[] => files.map(({ path }) => path);
const MIXED = 'Zk3pQ9vXw7LmN2bRt8YcHs5JdFg4TuEaVo6iBqWx1DzKrPy0GhUnMfCjSlAe';
const HEX = '9f3a7c1e5b8d2046af13c97e5d80b264';
/** Nothing that looks like a token may stand in this file itself. */
const mixed = (length: number): string => MIXED.repeat(4).slice(0, length);
const hex = (length: number): string => HEX.repeat(4).slice(0, length);
const base64 = (length: number): string =>
  Buffer.from(Array.from({ length }, (_, i) => (i * 73 + 11) % 256)).toString('base64');
const GITHUB = `ghp_${mixed(36)}`;

/** A key of each hosted service that flows can use, in the form that it has now. */
const PROVIDER_KEYS: Readonly<Record<string, readonly string[]>> = {
  openai: [`sk-proj-${mixed(80)}`, `sk-svcacct-${mixed(80)}`, `sk-admin-${mixed(80)}`, `sk-${mixed(48)}`],
  anthropic: [`sk-ant-api03-${mixed(95)}`],
  gemini: [`AIza${mixed(35)}`],
  mistral: [
    `MISTRAL_API_KEY=${mixed(32)}`,
    `os.environ["MISTRAL_API_KEY"] = "${mixed(32)}"`,
    `mistral_api_key: ${mixed(32)}`,
  ],
  deepseek: [`sk-${hex(32)}`],
  groq: [`gsk_${mixed(52)}`],
  xai: [`xai-${mixed(80)}`],
  together: [`tgp_v1_${mixed(43)}`, `TOGETHER_API_KEY='${hex(64)}'`],
  fireworks: [`fw_${mixed(24)}`],
  openrouter: [`sk-or-v1-${hex(64)}`],
  cerebras: [`csk-${mixed(48)}`],
  azure: [`AZURE_OPENAI_API_KEY=${hex(32)}`, `azure_openai_api_key: "${mixed(84)}"`],
  bedrock: [`ABSK${base64(93)}`, `bedrock-api-key-${base64(300)}`],
  vertex: [`ya29.${mixed(120)}`],
};
const OTHER_TOKENS = [
  `aws_secret_access_key = ${mixed(20)}/${mixed(19)}`,
  `glpat-${mixed(20)}`,
  `xoxb-918273645091-837261548290-${mixed(24)}`,
  `hf_${mixed(34)}`,
  `r8_${mixed(37)}`,
  `npm_${mixed(36)}`,
  `pypi-AgEIcHlwaS5vcmc${mixed(90)}`,
  `GOCSPX-${mixed(28)}`,
  `SG.${mixed(22)}.${mixed(43)}`,
  `dapi${hex(32)}`,
  `dckr_pat_${mixed(27)}`,
  `DefaultEndpointsProtocol=https;AccountName=x;AccountKey=${base64(64)}`,
  `AGE-SECRET-KEY-1${mixed(58).toUpperCase()}`,
  `fw_${mixed(43)}`,
];

const SERVICE_ACCOUNT = JSON.stringify(
  {
    type: 'service_account',
    private_key_id: hex(40),
    private_key: `-----BEGIN PRIVATE KEY-----\n${base64(600).replaceAll(/(.{64})/g, '$1\n')}\n-----END PRIVATE KEY-----\n`,
  },
  null,
  2,
);

test('keys of the services that flows can use are never sent', async (t) => {
  const variables = PROVIDER_NAMES.map((name) => {
    const { keyVariable } = resolveEndpoint({ provider: name, baseUrl: 'https://models.example.org' });
    return [name, keyVariable] as const;
  });
  for (const [name, variable] of variables) {
    if (variable === undefined) continue;
    const keys = [...(PROVIDER_KEYS[name] ?? []), `export ${variable}="${mixed(40)}"`];
    assert.ok(keys.length > 1, `${name} needs a key in this test`);
    const root = temporaryFolder(t);
    for (const [index, key] of keys.entries()) {
      writeTree(root, { [`${index}.py`]: `import os\nkey = ${/[=:]/.test(key) ? key : `"${key}"`}\n` });
    }
    assert.deepEqual(pathsOf(await selectFiles(root, { isTrusted: false })), [], name);
  }
});

test('tokens of other services and service accounts with escaped line endings are not sent', async (t) => {
  const root = temporaryFolder(t);
  for (const [index, token] of OTHER_TOKENS.entries()) writeTree(root, { [`${index}.txt`]: `x ${token}\n` });
  writeTree(root, { 'account.json': SERVICE_ACCOUNT, 'nested.json': JSON.stringify({ text: SERVICE_ACCOUNT }) });
  assert.deepEqual(pathsOf(await selectFiles(root, { isTrusted: false })), []);
});

const SECRET_NAMES =
  `.env|.env.local|.env-prod|.env_local|.env~|.env.bak|..env.swp|.ENV|.env.d/app|prod.env|app.env.local|.envrc|.npmrc
|.netrc|_netrc|.pypirc|.git-credentials|.docker/config.json|sub/.docker/config.json|.dockercfg|.config/gcloud/credentials.db
|application_default_credentials.json|gcloud/legacy_credentials/me/adc.json|id_rsa|id_rsa.bak|id_rsa~|id_rsa.old|id_ed25519_work|id_ecdsa_sk
|server.key|server.pem.bak|store.p12|terraform.tfstate|terraform.tfstate.backup|prod.tfvars|x.auto.tfvars.json|kubeconfig|dev.kubeconfig|.kube/config
|.aws/credentials|.ssh/config|.azure/token.json|.kaggle/kaggle.json|kaggle.json|.pgpass|.my.cnf|.boto|.s3cfg|rclone.conf|.databrickscfg
|.cargo/credentials.toml|.streamlit/secrets.toml|.huggingface/token|.bash_history|.vault-token|.terraformrc|.npmrc.bak`
    .replaceAll('\n', '')
    .split('|');
const HARMLESS_NAMES =
  `.env.example|.env.sample|.env.template|.env-example|example.env|app.env.ts|environment.yml|env.py|vite-env.d.ts|.docker/Dockerfile
|id_rsa.pub|id_rsa_utils.py|identity.py|example.tfvars|main.tf|config.json|docker/config.json|credentials.py|keyboard.md|tokens.json|settings.xml|history.md
|secrets.py|huggingface/model.py|gcloud/deploy.sh`
    .replaceAll('\n', '')
    .split('|');

for (const isTrusted of [true, false]) {
  const how = isTrusted ? 'with git' : 'without git';

  test(`files with the names of secrets stay, and examples of them are sent, ${how}`, async (t) => {
    const root = temporaryFolder(t);
    writeTree(root, Object.fromEntries([...SECRET_NAMES, ...HARMLESS_NAMES].map((path) => [path, 'x'])));
    const { files, excluded } = await selectFiles(root, { isTrusted });
    const twin = excluded.filter(({ reason }) => reason === 'name').map(({ path }) => path);
    assert.deepEqual([...files.map(({ path }) => path), ...twin].sort(), [...HARMLESS_NAMES].sort());
  });
}

test('code, hashes, identifiers, base64 and placeholders are no secrets', async (t) => {
  const root = temporaryFolder(t);
  writeTree(root, {
    'a.py': `client = OpenAI(api_key=os.environ["OPENAI_API_KEY"])\nOPENAI_API_KEY = get_secret_from_the_manager_by_name()\n`,
    'b.env.example':
      'OPENAI_API_KEY=your_openai_api_key_goes_in_here\nGROQ_API_KEY=gsk_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n',
    'one letter.md': `hf_${'a'.repeat(34)} and npm_${'01'.repeat(18)}`,
    'c.md': `Use sk-proj-${'x'.repeat(60)} or AKIAIOSFODNN7EXAMPLE; it starts with -----BEGIN PRIVATE KEY-----.`,
    'd.json': JSON.stringify({
      sha256: hex(64),
      commit: hex(40),
      image: base64(3000),
      integrity: `sha512-${base64(64)}`,
    }),
    'e.ts': 'const fw_updateTheFirmwareOfIt = sk_buff_allocate_the_next_one(npm_package_config_default_value);\n',
    'f.pub': `ssh-rsa ${base64(300)} me@example.org`,
    'g.pem.md': `-----BEGIN CERTIFICATE-----\n${base64(600)}\n-----END CERTIFICATE-----\n`,
    'h.css': `.sk-folding-cube-animation-container-long-name { background: url(data:image/png;base64,${base64(500)}) }`,
  });
  const { files, findings } = await selectFiles(root, { isTrusted: false });
  assert.deepEqual(findings, []);
  assert.equal(files.length, 9);
});

const FILLER = 'a line of text that nobody reads\n'.repeat(40_000);

test('secrets after the first 64 KB and in UTF-16 of either byte order, with or without a BOM, are not sent', async (t) => {
  const root = temporaryFolder(t);
  const text = `key = "${GITHUB}" # and some more text in Latin letters\n`;
  const little = Buffer.from(text, 'utf16le');
  writeTree(root, {
    'late.py': `${FILLER.slice(0, 900_000)}\n${text}`,
    'little.txt': little,
    'big.txt': Buffer.from(little).swap16(),
    'littleMarked.txt': Buffer.concat([Buffer.from([0xff, 0xfe]), little]),
    'bigMarked.txt': Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(little).swap16()]),
    'marked.txt': `\uFEFF${text}`,
    'latin1.txt': Buffer.from(`Ünïcödé ${text}`, 'latin1'),
  });
  assert.deepEqual(pathsOf(await selectFiles(root, { isTrusted: false })), []);
});

test('packing finds a secret anywhere in a large file, even across chunk boundaries', async (t) => {
  const MEGABYTE = 1 << 20;
  const large = FILLER.repeat(3);
  for (const encoding of ['utf8', 'utf16le'] as const) {
    for (const offset of [-50, -20, -1, 0, 3]) {
      const folder = temporaryFolder(t);
      const at = (encoding === 'utf8' ? 2 : 1) * MEGABYTE + offset;
      writeTree(folder, { 'in/big.csv': Buffer.from(`${large.slice(0, at)} ${GITHUB} ${large.slice(at)}`, encoding) });
      const selection = await selectFiles(join(folder, 'in'), { isTrusted: false });
      assert.deepEqual(pathsOf(selection), ['big.csv']);
      await assert.rejects(packSelection(selection, join(folder, 'w.tar.gz')), {
        code: 'refused',
        message:
          /^big\.csv contains what looks like a secret \(GitHub token\), so nothing was packed\. Leave the file out, or/,
      });
      assert.deepEqual(readdirSync(folder), ['in']);
    }
  }
});

test('a file that gets a secret after selection is not packed, even with the same size and time', async (t) => {
  const folder = temporaryFolder(t);
  const root = join(folder, 'in');
  for (const path of ['notes.md', 'data.bin', 'x.zip']) {
    writeTree(root, { 'notes.md': 'nothing', 'data.bin': 'nothing', 'x.zip': 'nothing' });
    const selection = await selectFiles(root, { isTrusted: false });
    writeFileSync(join(root, path), `token: ${GITHUB}`);
    await assert.rejects(packSelection(selection, join(folder, 'w.tar.gz')), {
      code: 'refused',
      message: /GitHub token/,
    });
    assert.deepEqual(readdirSync(folder), ['in']);
  }
});

test('what a person chose, binary data, and what is packed for a service are sent whatever they hold', async (t) => {
  const folder = temporaryFolder(t);
  const root = join(folder, 'in');
  writeTree(root, {
    'notes.md': GITHUB,
    'weights.bin': Buffer.concat([randomBytes(100), Buffer.alloc(9), Buffer.from(GITHUB)]),
  });
  const chosen = await selectFiles(root, { isTrusted: false, include: ['notes.md'] });
  assert.equal((await packSelection(chosen, join(folder, 'chosen.tar.gz'))).manifest.length, 2);
  const { files, ...rest } = chosen;
  const plain = { ...rest, files: files.map(({ path, size, mode, mtimeMs }) => ({ path, size, mode, mtimeMs })) };
  await assert.rejects(packSelection(plain, join(folder, 'w.tar.gz')), { code: 'refused' });
  await packSelection(plain, join(folder, 'results.tar.gz'), { allowsSecrets: true });
});
