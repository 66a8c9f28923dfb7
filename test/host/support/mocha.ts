import { appendFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { TestEvent } from './events.ts';

// Guards against a hang only: a busy machine takes many times as long as a quiet one.
const TEST_TIMEOUT_MS = 15 * 60_000;

/**
 * Runs every `*.test.js` of a folder inside VS Code and reports to the outside by lines of JSON in `FARWHARF_TEST_REPORT`.
 *
 * @throws Error when a test failed, which VS Code turns into its exit status.
 */
export async function runMocha(folder: string): Promise<void> {
  const report = process.env['FARWHARF_TEST_REPORT'];
  if (report === undefined) throw new Error('FARWHARF_TEST_REPORT is not set.');
  const tell = (event: TestEvent) => appendFileSync(report, `${JSON.stringify(event)}\n`);
  const { default: Mocha } = await import('mocha'); // which is an ES module: only newer versions of Node.js return this from require()
  class Silent extends Mocha.reporters.Base {} // nobody would see what Mocha prints inside VS Code
  const mocha = new Mocha({ ui: 'tdd', timeout: TEST_TIMEOUT_MS, reporter: Silent });
  const grep = process.env['FARWHARF_TEST_GREP'];
  if (grep) mocha.grep(grep);
  const files = readdirSync(folder).filter((file) => file.endsWith('.test.js'));
  for (const name of files.sort()) mocha.addFile(join(folder, name));
  const { promise, resolve } = Promise.withResolvers<number>();
  const runner = mocha.run(resolve);
  const nameOf = (test: { file?: string; titlePath(): string[] }): { file: string; title: string } => ({
    file: `test/host/suite/${basename(folder)}/${basename(test.file ?? 'index.js', '.js')}.ts`,
    title: test.titlePath().join(' > '),
  });
  runner.on('pass', (test) => tell({ type: 'pass', ...nameOf(test), durationMs: test.duration ?? 0 }));
  runner.on('pending', (test) => tell({ type: 'skip', ...nameOf(test) }));
  runner.on('fail', (test, error: Error) => {
    tell({ type: 'fail', ...nameOf(test), error: error.stack ?? error.message });
  });
  const failures = await promise;
  tell({ type: 'done' });
  if (failures > 0) throw new Error(`${failures} failed`);
}
