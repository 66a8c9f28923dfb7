import type { ServeOptions } from './serve.ts';

export interface ServiceAddress {
  readonly url: string;
  readonly key: string;
}

export interface EmbeddedOptions {
  /** FARWHARF_HOME: one service for each. */
  readonly home: string;
  /** Executable that runs JavaScript: Node, or Electron with `ELECTRON_RUN_AS_NODE` in `env`. */
  readonly node: string;
  /** Path of `dist/cli.mjs`. */
  readonly cli: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal;
  /** How long a start may take; 15 seconds unless given. */
  readonly startTimeoutMs?: number;
}

/** What `farwharf serve --embedded` passes to `serve`. */
export function embeddedServeOptions(_home: string, _program: { runner: string; version: string }): ServeOptions {
  throw new Error('Not written yet.');
}

/**
 * Address of this user's own job service, which is started where none runs.
 *
 * @throws AppError `unreachable` with the end of the service's log when it does not start; the signal's reason on abort.
 */
export function connectEmbeddedService(_options: EmbeddedOptions): Promise<ServiceAddress> {
  throw new Error('Not written yet.');
}
