import type { Disposable } from '../../core/processes/lifetime.ts';
import { createLogger, type Logger, type LogLevel } from '../../core/log.ts';
import type { Redactor } from '../../core/redact.ts';
import type { LogSettings } from '../config/sections.ts';
import { LogFile } from './logFile.ts';

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
  const file = path === undefined ? undefined : new LogFile(path);
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
