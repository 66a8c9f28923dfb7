#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { printableLine } from '../core/text/printable.ts';
import { EXIT } from './command/exit.ts';
import { endOnUncaughtErrors } from './command/uncaught.ts';

const NEEDED = [22, 18] as const; // has node:sqlite without a flag, and runs TypeScript sources

if (isOldNode()) {
  process.stderr.write(
    `farwharf: Node.js ${NEEDED.join('.')} or newer is required, but this is Node.js ${process.versions.node}. ` +
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
 * Keeps V8's space for new objects at its initial size. With large folders it would grow to three times 16 MB, a quarter of all memory
 * used. The cost is more frequent garbage collection.
 */
function keepMemorySmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Hides the warning that node:sqlite is experimental, which is of no use to users. */
function hideExperiments(): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => {
    if (name !== 'ExperimentalWarning') process.stderr.write(`${printableLine(`${name}: ${message}`)}\n`);
  });
}
