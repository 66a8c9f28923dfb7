// `node windowRunner.ts FILE...` runs test files that drive a window, and prints the outcome of each test as a line of JSON.
import { runWindowTestFiles } from '../testFiles.ts';

for await (const event of runWindowTestFiles({ files: process.argv.slice(2), concurrency: 1 })) {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}
