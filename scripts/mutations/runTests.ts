// Runs test files together in this process, prints the file of each test that starts, and exits with 1 when one fails.
import { run } from 'node:test';

run({ files: process.argv.slice(2), isolation: 'none' })
  .on('test:dequeue', ({ file }) => file !== undefined && process.stdout.write(`${file}\n`))
  .on('test:fail', ({ file }) => {
    if (file !== undefined) process.stdout.write(`${file}\n`);
    process.exit(1);
  })
  .resume();
