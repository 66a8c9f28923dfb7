#!/usr/bin/env node
import { runProgram } from './program.ts';

// node:sqlite announces itself as experimental on the Node versions that have it; nobody who runs a job needs to know.
process.removeAllListeners('warning');
process.on('warning', (warning) => {
  if (warning.name !== 'ExperimentalWarning') process.stderr.write(`${warning.name}: ${warning.message}\n`);
});

process.exitCode = await runProgram(process.argv.slice(2), { entry: import.meta.filename, env: process.env });
