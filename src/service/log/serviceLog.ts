import type { Disposable } from '../../core/processes/lifetime.ts';
import { createLogger, type Logger, type LogLevel } from '../../core/log.ts';
import type { Redactor } from '../../core/redact.ts';
import type { LogSettings } from '../config/logConfig.ts';
import { LogFile } from './logFile.ts';

/** The log of a service: where its configuration wants it. */
export interface ServiceLog extends Disposable {
  readonly log: Logger;
  /** Follows a file that was moved away by a program that rotates logs. */
  reopen(): void;
}

/**
 * @param fallback takes finished lines where the configuration names no file.
 * @throws AppError `permission` when the file cannot be written.
 */
export function openServiceLog(
  settings: LogSettings,
  redactor: Redactor,
  fallback: (line: string) => void,
): ServiceLog {
  const { format, level, file: path, max_mb: maxMb, keep } = settings;
  const file = path === undefined ? undefined : new LogFile(path, { maxBytes: maxMb * 1e6, keep });
  const write = file === undefined ? fallback : (line: string): void => file.write(line);
  const sink = (lineLevel: LogLevel, line: string): void =>
    write(format === 'json' ? line : `${new Date().toISOString()} ${lineLevel} ${line}`);
  return {
    log: createLogger(sink, redactor, { format, level }),
    reopen: () => file?.reopen(),
    dispose: () => file?.dispose(),
  };
}
