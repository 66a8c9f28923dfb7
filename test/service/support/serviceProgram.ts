// A job service as a process of its own: with the options in the environment or its home, or as `farwharf serve --embedded` runs it.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger } from '../../../src/core/log.ts';
import { farwharfHome } from '../../../src/core/files/home.ts';
import { embeddedServeOptions } from '../../../src/service/embeddedOptions.ts';
import { DEFAULT_CONFIG } from '../../../src/service/serviceConfig.ts';
import { serve } from '../../../src/service/serve.ts';
import type { ServeOptions } from '../../../src/service/serveOptions.ts';
import { testedIsolation } from './isolation.ts';
import { built } from './built.ts';
import { OPTIONS_FILE } from './serviceOptionsFile.ts';

const file = join(farwharfHome(), OPTIONS_FILE);
const given = process.env['TEST_SERVE_OPTIONS'] ?? (existsSync(file) ? readFileSync(file, 'utf8') : undefined);
const overrides = (given === undefined ? {} : JSON.parse(given)) as Partial<ServeOptions>;
const embedded = await embeddedServeOptions(farwharfHome(), { runner: built('jobRunner.mjs'), version: '0.0.0' });
const isolation = { ...DEFAULT_CONFIG.process, isolation: testedIsolation(), nice: 0 };
// With prices, so that the tests of crashes and faults see what becomes of credits.
const { machine_classes: _, ...config } = embedded.config;
const options = { ...embedded, config: { ...config, process: isolation }, ...overrides };
const stop = new AbortController();
process.on('SIGTERM', () => (stop.signal.aborted ? process.exit(130) : stop.abort()));
const log = createLogger((level, line) => process.stderr.write(`${level} ${line}\n`));
try {
  const { url, key, closed } = await serve(options, { log, signal: stop.signal });
  process.stdout.write(`${JSON.stringify({ url, key })}\n`);
  await closed;
} catch (error) {
  log.error('service failed', { error });
  process.exitCode = 1;
}
