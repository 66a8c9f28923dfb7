#!/usr/bin/env node
// Imports nothing before the check: older versions of Node.js lack exports that the program imports, and would print a stack trace.
const NEEDED = [22, 18] as const; // has node:sqlite without a flag, and runs TypeScript sources
const BAD_USE = 2;

if (isOldNode()) {
  process.stderr.write(
    `farwharf: Node.js ${NEEDED.join('.')} or newer is required, but this is Node.js ${process.versions.node}. ` +
      'In a clone of the repository, npm start uses its own Node.js.\n',
  );
  process.exitCode = BAD_USE;
} else {
  const { start } = await import('./start.ts');
  await start(import.meta.filename);
}

function isOldNode(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1]);
}
