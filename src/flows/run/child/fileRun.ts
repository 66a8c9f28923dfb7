import { readFileSync } from 'node:fs';
import { registerHooks, type LoadHookSync } from 'node:module';
import { pathToFileURL } from 'node:url';
import { AppError, systemCode } from '../../../core/errors.ts';
import type { ChildRequest } from '../protocol/runMessage.ts';
import { findExportedFlow, importedFile } from '../loading/exportedFlow.ts';
import type { FlowHost } from './flowHost.ts';
import { runsOnlyAsMain, skipsMain, MAIN } from '../../graph/mainGuard.ts';

// How long a file that may run its flow itself can take before it does.
const OWN_RUN_WAIT_MS = 1_000;

const SKIPPED_MAIN =
  'The code under import.meta.main was skipped, because the file exports its flow, so the shared state is empty at first. ' +
  'To set it, use --shared JSON.';

/**
 * Runs the flow of a file once. If the file runs its flow itself while it is loaded, or right after, that is the run;
 * otherwise the exported flow is run.
 *
 * @throws what the file or its flow throws, and AppError if there is nothing to run.
 */
export async function runFlowFile(
  { file, flow, shared, resume }: ChildRequest,
  host: FlowHost,
  note: (message: string) => void,
): Promise<void> {
  const text = readSource(file);
  if (runsOnlyAsMain(text)) registerHooks({ load: asMain(file) });
  host.isFileRunning = true;
  const exports = await importedFile(file);
  if (host.begun === 0 && /\.run\s*\(/.test(text)) await untilIdle();
  if (host.begun > 0) return;
  host.isFileRunning = false;
  const unit = await findExportedFlow(exports, flow, file);
  if (skipsMain(text) && shared === undefined && resume === undefined) note(SKIPPED_MAIN);
  await unit.run({ ...shared });
}

function readSource(file: string): string {
  if (!/\.[cm]?[jt]s$/.test(file)) {
    throw new AppError('bad-input', `${file} is not a flow file. Flow files end in .ts, .mts, .js or .mjs.`);
  }
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const why = systemCode(cause) === 'ENOENT' ? 'does not exist' : 'cannot be read';
    throw new AppError('missing', `The file ${file} ${why}.`, { cause });
  }
}

/** Waits until the process is idle, or until the limit if something stays open. */
function untilIdle(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(settle, OWN_RUN_WAIT_MS).unref();
    process.once('beforeExit', settle);
    function settle(): void {
      clearTimeout(timer);
      process.off('beforeExit', settle);
      resolve();
    }
  });
}

// Replaced by text of the same length, so that all positions in the file stay the same.
const TRUE = 'true'.padEnd(MAIN.length);

/** Makes `import.meta.main` true in this file, although the runner imports it. */
function asMain(file: string): LoadHookSync {
  const main = pathToFileURL(file).href;
  return (url, context, next) => {
    const loaded = next(url, context);
    const { source } = loaded;
    if (url !== main || source === undefined || source === null) return loaded;
    const text = typeof source === 'string' ? source : new TextDecoder().decode(source);
    return { ...loaded, source: text.replaceAll(MAIN, TRUE) };
  };
}
