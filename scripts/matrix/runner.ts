// Part of the kit, for any supported Node.js: `node runner.mjs FILE...` runs test files and prints the outcome of each test
// as a line of JSON.
import { runTestFiles } from '../testFiles.ts';

for await (const event of runTestFiles({ files: process.argv.slice(2), concurrency: 2 })) {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}
