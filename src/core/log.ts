import { Redactor } from './redact.ts';

type LogLevel = 'debug' | 'info' | 'warn' | 'error';
type LogFields = Readonly<Record<string, unknown>>;
/** Receives finished lines; a file, a terminal or an output channel. */
export type LogSink = (level: LogLevel, line: string) => void;

/** A log of constant sentences with fields apart. Everything that passes is redacted first. */
export interface Logger {
  debug(sentence: string, fields?: LogFields): void;
  info(sentence: string, fields?: LogFields): void;
  warn(sentence: string, fields?: LogFields): void;
  error(sentence: string, fields?: LogFields): void;
}

/** Makes a logger that writes `sentence {"field":1}` lines to `sink`, free of the redactor's secrets. */
export function createLogger(sink: LogSink, redactor: Redactor = new Redactor()): Logger {
  const write = (level: LogLevel) => (sentence: string, fields?: LogFields) => {
    const line = fields === undefined ? sentence : `${sentence} ${JSON.stringify(fields, errorsAsText)}`;
    sink(level, redactor.redact(line));
  };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

/** A logger that keeps nothing. */
export const silentLogger: Logger = createLogger(() => {});

function errorsAsText(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return value.cause === undefined ? value.stack : { error: value.stack, cause: value.cause };
}
