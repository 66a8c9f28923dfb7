import { createInterface } from 'node:readline/promises';
import { addAbortSignal, Writable } from 'node:stream';
import { AppError } from '../../core/errors.ts';
import { storesSecrets } from '../../jobs/plan/secretFindings.ts';
import { readFeatures } from '../../jobs/plan/serviceLimits.ts';
import { classifyFailure } from '../../core/network/classifyFailure.ts';
import type { RemoteClient } from '../../remote/client.ts';
import { REDACTED_RESULTS_FEATURE, secretName, secretValue, type StoredSecret } from '../../remote/protocol/secret.ts';
import type { Context } from '../command/commandContext.ts';
import { answerTable, type RecordColumn } from '../command/recordTable.ts';
import { Session } from '../command/session.ts';
import { printable, printableText } from '../../core/text/printable.ts';

const COLUMNS: readonly RecordColumn<StoredSecret>[] = [
  { title: 'NAME', cell: ({ name }) => name, minWidth: 4 },
  { title: 'SET', cell: ({ changed_at: at }) => at.slice(0, 16).replace('T', ' ') },
  { title: 'IN RESULTS', cell: ({ redact_results: isRedacted }) => (isRedacted === true ? 'removed' : '') },
];

// Above the limit of a value, so that the message names that limit.
const MAX_BYTES = 1 << 20;

/** `farwharf secret set NAME`. JSON: `{ name }`. @throws AppError `bad-input` for a name or a value that cannot be used. */
export async function setSecretFromInput(
  context: Context,
  name: string,
  { redactResults }: { readonly redactResults?: boolean },
): Promise<void> {
  checkName(name);
  await using session = new Session(context);
  const { client, account } = await connect(session, context);
  if (redactResults !== undefined && !readFeatures(account).includes(REDACTED_RESULTS_FEATURE)) {
    const sentence = `The service ${session.hostName} cannot remove secrets from results, so nothing was sent.`;
    throw new AppError('refused', `${sentence} Set the secret without --redact-results, or use another service.`);
  }
  const value = await readSecretValue(name, context);
  const { error } = secretValue.safeParse(value);
  if (error !== undefined) {
    throw new AppError('bad-input', `The value of a secret ${error.issues[0]?.message}. Nothing was sent.`);
  }
  await client.setSecret(name, value, {
    signal: context.signal,
    ...(redactResults !== undefined && { redactResults }),
  });
  const { terminal } = context;
  if (!terminal.json({ name })) terminal.answer(`The secret ${name} is set on ${session.hostName}.`);
}

/** `farwharf secret list`. JSON: `{ secrets: [{ name, changed_at, redact_results }] }`. */
export async function listSecrets(context: Context): Promise<void> {
  const { signal, terminal } = context;
  await using session = new Session(context);
  const { client } = await connect(session, context);
  const secrets = await client.listSecrets({ signal });
  if (terminal.json({ secrets })) return;
  const hint = 'Set one:  farwharf secret set NAME';
  answerTable(terminal, COLUMNS, secrets, { none: 'You have no secrets.', hint });
}

/** `farwharf secret remove NAME`. JSON: `{ name }`. @throws AppError `missing` if it does not exist. */
export async function removeStoredSecret(context: Context, name: string): Promise<void> {
  checkName(name);
  const { signal, terminal } = context;
  await using session = new Session(context);
  const { client } = await connect(session, context);
  try {
    await client.removeSecret(name, { signal });
  } catch (error) {
    if (classifyFailure(error) !== 'missing') throw error;
    const hint = 'List your secrets:  farwharf secret list';
    throw new AppError('missing', `The secret ${name} does not exist on ${session.hostName}. ${hint}`, {
      cause: error,
    });
  }
  if (!terminal.json({ name })) terminal.answer(`The secret ${name} was removed from ${session.hostName}.`);
}

function checkName(name: string): void {
  const { error } = secretName.safeParse(name);
  if (error === undefined) return;
  throw new AppError(
    'bad-input',
    `${name} cannot be a secret: the name ${error.issues[0]?.message}. Nothing was sent.`,
  );
}

/** A service that stores secrets. @throws AppError `refused` for another one, to which nothing was sent. */
async function connect(
  session: Session,
  { signal }: Pick<Context, 'signal'>,
): Promise<{ readonly client: RemoteClient; readonly account: unknown }> {
  const client = await session.client();
  const account = await client.me({ signal }).catch((error: unknown) => {
    if (classifyFailure(error) === 'missing') return undefined; // a service without accounts
    throw error;
  });
  if (storesSecrets(account)) return { client, account };
  const sentence = `The service ${session.hostName} does not store secrets, so nothing was sent.`;
  throw new AppError('refused', `${sentence} Ask its operator for a newer version, or use another service.`);
}

/**
 * The value of a secret: from standard input without its last line break, or from a terminal without an echo.
 *
 * @throws AppError `bad-input` for bytes that are not text, the signal's reason on abort.
 */
async function readSecretValue(name: string, context: Context): Promise<string> {
  if (context.stdin().isTTY) return askHidden(name, context);
  const bytes = await readInput(context);
  try {
    // Replacing bytes that are not UTF-8 would change the value.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch (cause) {
    const message =
      'The value of a secret must be text in UTF-8. Encode other bytes, for example with base64. Nothing was sent.';
    throw new AppError('bad-input', message, { cause });
  }
}

async function readInput({ stdin, signal }: Context): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of addAbortSignal(signal, stdin()) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_BYTES) break;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
  return Buffer.concat(chunks);
}

async function askHidden(name: string, { terminal, stdin, signal }: Context): Promise<string> {
  if (!terminal.isScreen('stderr')) {
    throw new AppError('bad-input', 'No terminal is available to ask for the value. Pass it on standard input.');
  }
  terminal.clearStatus();
  terminal.output('stderr', printable`Value of ${name}: `);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input: stdin(), output: nowhere, terminal: true, historySize: 0 });
  try {
    const cancelled = new Promise<never>((_, reject) => {
      prompt.once('SIGINT', () => {
        process.kill(process.pid, 'SIGINT'); // the terminal is in raw mode, so Ctrl+C is a key
        reject(new DOMException('Stopped.', 'AbortError'));
      });
      prompt.once('close', () => reject(new DOMException('Stopped.', 'AbortError')));
    });
    return await Promise.race([prompt.question('', { signal }), cancelled]);
  } finally {
    prompt.close();
    terminal.output('stderr', printableText('\n'));
  }
}
