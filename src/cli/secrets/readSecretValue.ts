import { createInterface } from 'node:readline/promises';
import { addAbortSignal, Writable } from 'node:stream';
import { AppError } from '../../core/errors.ts';
import { printable, printableText } from '../../core/text/printable.ts';
import type { Context } from '../command/context.ts';

// Above the limit of a value, so that the message names that limit.
const MAX_BYTES = 1 << 20;

/**
 * The value of a secret: from standard input without its last line break, or from a terminal without an echo.
 *
 * @throws AppError `bad-input` for bytes that are not text, the signal's reason on abort.
 */
export async function readSecretValue(name: string, context: Context): Promise<string> {
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
