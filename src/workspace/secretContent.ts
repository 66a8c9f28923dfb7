import { closeSync, constants, openSync, readSync } from 'node:fs';
import { isBinaryName, isPackedName } from './fileKinds.ts';

// Keys and tokens are short and live in short files; reading more would cost seconds in a large folder.
const MOST_BYTES = 64 * 1024;
const SAFE_READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

// One cheap search for the fixed beginnings comes first; only a hit is looked at closely.
const BEGINNINGS =
  /-----BEGIN |A(?:KIA|SIA)[A-Z2-7]|gh[pousr]_|github_pat_|glpat-|xox[bp]-|sk-(?:ant|proj)-|hf_|npm_|AIza|sk_live_|rk_live_|pypi-AgE|fw_/;
const FORMATS: readonly { readonly name: string; readonly pattern: RegExp }[] = [
  {
    name: 'private key',
    pattern: /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----\s+(?:[\w-]+: [^\n]*\n|\s)*[A-Za-z0-9+/=\s\\n]{100}/,
  },
  { name: 'AWS access key', pattern: /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/ },
  { name: 'GitHub token', pattern: /\bgh[pousr]_[A-Za-z0-9]{36}\b|\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b/ },
  { name: 'GitLab token', pattern: /\bglpat-[A-Za-z0-9_-]{20}\b/ },
  { name: 'Slack token', pattern: /\bxox[bp]-\d{10,13}-\d{10,13}-[A-Za-z0-9-]{24,}\b/ },
  { name: 'Anthropic key', pattern: /\bsk-ant-[a-z]+\d{2}-[A-Za-z0-9_-]{80,}/ },
  { name: 'OpenAI key', pattern: /\bsk-proj-[A-Za-z0-9_-]{60,}/ },
  { name: 'Hugging Face token', pattern: /\bhf_[A-Za-z]{34}\b/ },
  { name: 'npm token', pattern: /\bnpm_[A-Za-z0-9]{36}\b/ },
  { name: 'Google API key', pattern: /\bAIza[A-Za-z0-9_-]{35}\b/ },
  { name: 'Stripe key', pattern: /\b[sr]k_live_[A-Za-z0-9]{24,}\b/ },
  { name: 'Farwharf API key', pattern: /\bfw_[A-Za-z0-9_-]{43}(?![\w-])/ },
  { name: 'PyPI token', pattern: /\bpypi-AgE[A-Za-z0-9_-]{80,}/ },
];
const PLACEHOLDER = /example|xxxx|dummy|fake|your[_-]|0000000|1234567/i;
const FEWEST_DIFFERENT_CHARACTERS = 10;

/**
 * The name of the first secret in a small text file, or undefined. Only formats that cannot be mistaken count: complete
 * private keys, and tokens with their issuer's fixed beginning and length. Placeholders do not.
 */
export function findSecret(absolute: string, size: number, buffer: Buffer): string | undefined {
  if (size < 20 || size > MOST_BYTES || isPackedName(absolute) || isBinaryName(absolute)) return undefined;
  const text = readText(absolute, buffer.subarray(0, size));
  if (text === undefined || !BEGINNINGS.test(text)) return undefined;
  return FORMATS.find(({ pattern }) => {
    const hit = pattern.exec(text)?.[0];
    return hit !== undefined && !PLACEHOLDER.test(hit) && new Set(hit).size >= FEWEST_DIFFERENT_CHARACTERS;
  })?.name;
}

/** A buffer that `findSecret` may use again and again. */
export function secretBuffer(): Buffer {
  return Buffer.allocUnsafeSlow(MOST_BYTES);
}

function readText(absolute: string, buffer: Buffer): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(absolute, SAFE_READ);
  } catch {
    return undefined; // packing opens it again and says why it cannot be read
  }
  try {
    const bytes = buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, 0));
    return bytes.subarray(0, 1024).includes(0) ? undefined : bytes.toString('latin1');
  } catch {
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}
