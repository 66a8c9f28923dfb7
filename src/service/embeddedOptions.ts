import { serviceFolder, stateFileOf } from './embedded.ts';
import { DEFAULT_CONFIG } from './serviceConfig.ts';
import type { ServeOptions } from './serveOptions.ts';

const IDLE_EXIT_MS = 10 * 60_000;
// This user's next service waits for the end of this one.
const DRAIN_MS = 2_000;

/** A service for one person: nobody monitors it, and its log is only for failures. */
const CONFIG = {
  ...DEFAULT_CONFIG,
  log: { ...DEFAULT_CONFIG.log, requests: false },
  // Jobs run the person's own folder, and need programs, caches and data sets from all over the home. They are as fast as in a terminal.
  process: { ...DEFAULT_CONFIG.process, isolation: 'none' as const, nice: 0 },
  metrics: { enabled: false },
  retention: { min_free_gb: 0.1 },
};

/** The options of `farwharf serve --embedded`. */
export function embeddedServeOptions(home: string, program: { runner: string; version: string }): ServeOptions {
  return {
    ...program,
    host: '127.0.0.1',
    port: 0,
    data: serviceFolder(home),
    config: CONFIG,
    isToppedUpDaily: true,
    idleExitMs: IDLE_EXIT_MS,
    drainMs: DRAIN_MS,
    stateFile: stateFileOf(home),
  };
}
