// The program that Farwharf installs on a machine that it reaches over SSH. Its command line is internal.
import { readFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError, messageOf } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { textField } from '../../core/jsonFields.ts';
import { Redactor } from '../../core/redact.ts';
import { openServiceLog } from '../log/serviceLog.ts';
import { serve } from '../serve.ts';
import { attach } from './attach.ts';
import { offerCluster } from './cluster.ts';
import { dismantle } from './dismantle.ts';
import { locateProgram, machineServeOptions, type Program } from './machineFolder.ts';

/** Runs the service until it is idle or stopped. */
async function runService(program: Program, root: string): Promise<void> {
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stop.abort());
  process.on('SIGHUP', () => {}); // the end of the SSH session that started it
  const options = await machineServeOptions(root, program);
  const { log } = openServiceLog(options.config.log, new Redactor(), writeLogLine);
  const { closed } = await serve(options, { log, signal: stop.signal });
  await closed;
}

/** Standard error is a file here. On a full disk, a stream would end the service with the first line that has no room. */
function writeLogLine(line: string): void {
  try {
    writeSync(process.stderr.fd, `${line}\n`);
  } catch {
    // The log continues once there is room.
  }
}

process.umask(0o077);
process.removeAllListeners('warning'); // node:sqlite is experimental, which is of no use to users
const entry = import.meta.filename;
const manifest: unknown = JSON.parse(readFileSync(join(dirname(entry), 'package.json'), 'utf8'));
const program = locateProgram(entry, textField(manifest, 'version') ?? '0.0.0');
const [command, root = '', nonce = '', mode] = process.argv.slice(2);
switch (command) {
  case 'attach':
    await attach(program, { root, nonce, isUpgrade: mode === 'upgrade' });
    process.exit();
    break;
  case 'serve':
    await runService(program, root).catch((error: unknown) => {
      process.stderr.write(`${printableLine(messageOf(error))}\n`); // the process that waits for the start reads it from the log
      process.exitCode = 1;
    });
    break;
  case 'cluster':
    process.stdout.write(`\n${nonce} ${JSON.stringify(await offerCluster(program, root, mode === 'accept'))}\n`);
    break;
  case 'dismantle':
    process.stdout.write(`\n${nonce} ${JSON.stringify(await dismantle(program, root, mode === 'force'))}\n`);
    break;
  case undefined:
  default:
    throw new AppError('bad-input', `Unknown command "${command ?? ''}".`);
}
