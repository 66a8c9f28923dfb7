// Part of the kit, for any supported Node.js: `node runner.mjs FILE...` runs test files and prints the outcome of each test
// as a line of JSON.
import { runTestFiles, UNIT_FILES_PER_PROCESS } from '../testing/testFiles.ts';

const options = { files: process.argv.slice(2), concurrency: 2, filesPerProcess: UNIT_FILES_PER_PROCESS };
for await (const event of runTestFiles(options)) {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}
