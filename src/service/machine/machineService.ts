// The program that Farwharf installs on a machine that it reaches over SSH. Its command line is internal.
import { linkSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError, messageOf } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { textField } from '../../core/jsonFields.ts';
import { Redactor } from '../../core/redact.ts';
import { openServiceLog } from '../serviceLog.ts';
import { serve } from '../serve.ts';
import { attach } from './attach.ts';
import { dismantle } from './dismantle.ts';
import { configFileOf, homeOf, locateInstalled, machineServeOptions, type InstalledProgram } from './machineFolder.ts';
import type { ClusterOffer } from '../../remote/protocol/machineLink.ts';
import { stateFileOf } from '../embedded.ts';
import { proposeCluster } from '../slurm/proposal/proposeCluster.ts';
import { readStateFile } from '../stateFile.ts';

/** Runs the service until it is idle or stopped. */
async function runService(program: InstalledProgram, root: string): Promise<void> {
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
const program = locateInstalled(entry, textField(manifest, 'version') ?? '0.0.0');
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

/**
 * What jobs of this machine could use of its Slurm cluster. If `isAccepted`, that becomes the configuration of the service, which stops so
 * that it starts with it, unless it has unfinished jobs.
 */
async function offerCluster(program: InstalledProgram, root: string, isAccepted: boolean): Promise<ClusterOffer> {
  try {
    const { classes, config } = await proposeCluster(join(root, 'cluster'));
    if (isAccepted) {
      writeNew(configFileOf(root), config);
      if (readStateFile(stateFileOf(homeOf(root))) !== undefined) await dismantle(program, root, false);
    }
    // The client needs and accepts no more of them.
    return {
      classes: classes.map(({ name, description, cpus, memory_gb, gpus }) => ({
        name,
        description,
        cpus,
        memory_gb,
        gpus,
      })),
    };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

/** Writes a file whole or not at all, and never in place of one that the user wrote. @throws the system's error. */
function writeNew(path: string, text: string): void {
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flush: true });
    linkSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}
