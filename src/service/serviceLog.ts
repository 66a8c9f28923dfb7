import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Disposable } from '../core/processes/lifetime.ts';
import { createLogger, type Logger, type LogLevel } from '../core/log.ts';
import type { Redactor } from '../core/redact.ts';
import type { LogSettings } from './config/configSections.ts';
import { AppError, messageOf } from '../core/errors.ts';

/** The log of a service, in the place that its configuration names. */
export interface ServiceLog extends Disposable {
  readonly log: Logger;
  /** Continues in a new file after logrotate renamed the current one. */
  reopen(): void;
}

/**
 * @param fallback receives finished lines if the configuration names no file.
 * @throws AppError `permission` when the file cannot be written.
 */
export function openServiceLog(
  { format, level, file: path }: LogSettings,
  redactor: Redactor,
  fallback: (line: string) => void,
): ServiceLog {
  const file = path === undefined ? undefined : new ServiceLogFile(path);
  const write = file === undefined ? fallback : (line: string): void => file.write(line);
  const sink = (lineLevel: LogLevel, line: string): void =>
    write(format === 'json' ? line : `${new Date().toISOString()} ${lineLevel} ${line}`);
  const log = createLogger(sink, redactor, { format, level });
  return {
    log,
    reopen() {
      try {
        file?.reopen();
      } catch (error) {
        log.error('the log file could not be reopened; the previous one stays in use', { error });
      }
    },
    dispose: () => file?.dispose(),
  };
}

/**
 * A file of lines that only this user can read. `logrotate` limits its size: it renames the file and has `reopen` called.
 *
 * Each line is written at once, because the last line before a crash is the one that matters. That costs about ten
 * microseconds a line. A line that cannot be written (full disk) is dropped: logging must not stop the service.
 */
export class ServiceLogFile implements Disposable {
  readonly #path: string;
  #descriptor: number;

  /** @throws AppError `permission` when the file cannot be opened. */
  constructor(path: string) {
    this.#path = path;
    this.#descriptor = open(path);
  }

  write(line: string): void {
    try {
      writeSync(this.#descriptor, `${line}\n`);
    } catch {
      // A later line may succeed.
    }
  }

  /** Opens the path again, for a file that was renamed. @throws as the constructor; then the renamed file stays in use. */
  reopen(): void {
    const previous = this.#descriptor;
    this.#descriptor = open(this.#path);
    closeSync(previous);
  }

  dispose(): void {
    closeSync(this.#descriptor);
  }
}

function open(path: string): number {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return openSync(path, 'a', 0o600);
  } catch (cause) {
    const message = `The log file ${path} cannot be written: ${messageOf(cause)}. Choose another one with --log.`;
    throw new AppError('permission', message, { cause });
  }
}
