#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { printableLine } from '../core/text/printable.ts';
import { EXIT } from './command/exit.ts';
import { endOnUncaughtErrors } from './command/uncaught.ts';

const NEEDED = [22, 18] as const; // node:sqlite without a flag, and sources that run as they are

if (isOldNode()) {
  process.stderr.write(
    `farwharf: Farwharf needs Node ${NEEDED.join('.')} or newer, and this is ${process.versions.node}. ` +
      'In a clone of the repository, npm start uses its own Node.js.\n',
  );
  process.exitCode = EXIT.badUse;
} else {
  endOnUncaughtErrors(process.env);
  hideExperiments();
  keepMemorySmall();
  const { runProgram } = await import('./program.ts');
  process.exitCode = await runProgram(process.argv.slice(2), { entry: import.meta.filename, env: process.env });
}

function isOldNode(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1]);
}

/**
 * Keeps V8's space for new objects at the size it starts with. It would grow to three times 16 MB with folders of many
 * files, which is a quarter of all memory taken; the price is that garbage is collected more often.
 */
function keepMemorySmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** node:sqlite announces itself as experimental on the Node versions that have it; nobody who runs a job needs to know. */
function hideExperiments(): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => {
    if (name !== 'ExperimentalWarning') process.stderr.write(`${printableLine(`${name}: ${message}`)}\n`);
  });
}
