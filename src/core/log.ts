import { Redactor } from './redact.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
type LogFields = Readonly<Record<string, unknown>>;
/** Receives finished lines; a file, a terminal or an output channel. */
export type LogSink = (level: LogLevel, line: string) => void;

/** A log of constant sentences with separate fields. All text is redacted. */
export interface Logger {
  debug(sentence: string, fields?: LogFields): void;
  info(sentence: string, fields?: LogFields): void;
  warn(sentence: string, fields?: LogFields): void;
  error(sentence: string, fields?: LogFields): void;
}

export interface LogOptions {
  /** `text` (default): `sentence {"field":1}`; `json`: one object with time, level, message and the fields. */
  readonly format?: 'text' | 'json';
  /** The lowest level to log; `debug` by default. */
  readonly level?: LogLevel;
}

/** Creates a logger that writes one line per call to `sink`, without the redactor's secrets. */
export function createLogger(
  sink: LogSink,
  redactor: Redactor = new Redactor(),
  { format = 'text', level: lowest = 'debug' }: LogOptions = {},
): Logger {
  const describe = format === 'text' ? textLine : jsonLine;
  const write = (level: LogLevel) => (sentence: string, fields?: LogFields) => {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(lowest)) return;
    sink(level, redactor.redact(describe(level, sentence, fields)));
  };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

/** A logger that discards everything. */
export const silentLogger: Logger = createLogger(() => {});

function textLine(_level: LogLevel, sentence: string, fields?: LogFields): string {
  return fields === undefined ? sentence : `${sentence} ${JSON.stringify(fields, errorsAsText)}`;
}

function jsonLine(level: LogLevel, message: string, fields?: LogFields): string {
  return JSON.stringify({ time: new Date().toISOString(), level, message, ...fields }, errorsAsText);
}

function errorsAsText(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return value.cause === undefined ? value.stack : { error: value.stack, cause: value.cause };
}
