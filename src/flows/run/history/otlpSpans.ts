import { AppError } from '../../../core/errors.ts';
import { fieldOf, tryParseJson } from '../../../core/jsonFields.ts';
import { printableLine, printableText } from '../../../core/text/printable.ts';

/** A span of a trace, cleaned. Names and conventions: OpenTelemetry, OTLP 1.x and the semantic conventions for generative AI. */
export interface TraceSpan {
  readonly traceId: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly name: string;
  /** Nanoseconds since 1970. */
  readonly startedAt: bigint;
  readonly endedAt: bigint;
  /** What went wrong; undefined if the span did not fail. */
  readonly error: string | undefined;
  /** By name: texts, numbers, booleans, or JSON text of lists and objects. */
  readonly attributes: ReadonlyMap<string, string | number | boolean>;
}

const MOST_SPANS = 20_000;
const MOST_ATTRIBUTES = 200;
const MOST_CHARACTERS = 20_000;
const MOST_NAME = 120;

/**
 * The spans of a trace file: an OTLP export request as JSON, or one on each line, as exporters write them.
 *
 * @throws AppError `bad-input` if it is not one, `limit` if it has more spans than are shown.
 */
export function readSpans(text: string): readonly TraceSpan[] {
  const spans: TraceSpan[] = [];
  for (const request of requestsOf(text)) {
    for (const resource of listOf(request, 'resourceSpans')) {
      for (const scope of [...listOf(resource, 'scopeSpans'), ...listOf(resource, 'instrumentationLibrarySpans')]) {
        for (const value of listOf(scope, 'spans')) {
          const span = spanOf(value);
          if (span !== undefined) spans.push(span);
          if (spans.length > MOST_SPANS) {
            throw new AppError('limit', `The trace has more than ${MOST_SPANS} spans. Export a part of it.`);
          }
        }
      }
    }
  }
  if (spans.length > 0) return spans;
  throw new AppError('bad-input', 'The file has no spans. Export the trace as OTLP in JSON, with its resourceSpans.');
}

function requestsOf(text: string): readonly unknown[] {
  const whole = tryParseJson(text);
  if (whole !== undefined) return [whole];
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => tryParseJson(line)).filter((value) => value !== undefined);
}

function spanOf(value: unknown): TraceSpan | undefined {
  const [id, traceId] = [fieldOf(value, 'spanId'), fieldOf(value, 'traceId')];
  const [startedAt, endedAt] = [
    nanosOf(fieldOf(value, 'startTimeUnixNano')),
    nanosOf(fieldOf(value, 'endTimeUnixNano')),
  ];
  if (typeof id !== 'string' || id === '' || typeof traceId !== 'string' || startedAt === undefined) return undefined;
  const parent = fieldOf(value, 'parentSpanId');
  const status = fieldOf(value, 'status');
  const code = fieldOf(status, 'code');
  const hasFailed = code === 2 || code === 'STATUS_CODE_ERROR';
  const message = fieldOf(status, 'message');
  return {
    id,
    traceId,
    parent: typeof parent === 'string' && parent !== '' ? parent : undefined,
    name: nameOf(fieldOf(value, 'name')),
    startedAt,
    endedAt: endedAt === undefined || endedAt < startedAt ? startedAt : endedAt,
    error: hasFailed ? cut(typeof message === 'string' && message !== '' ? message : 'The span failed.') : undefined,
    attributes: attributesOf(value),
  };
}

function attributesOf(span: unknown): TraceSpan['attributes'] {
  const entries = listOf(span, 'attributes').slice(0, MOST_ATTRIBUTES);
  return new Map(
    entries.flatMap((entry): [string, string | number | boolean][] => {
      const [key, value] = [fieldOf(entry, 'key'), plainOf(fieldOf(entry, 'value'))];
      if (typeof key !== 'string' || value === undefined || value === null) return [];
      const isPlain = typeof value === 'number' || typeof value === 'boolean';
      return [[nameOf(key), isPlain ? value : cut(typeof value === 'string' ? value : JSON.stringify(value))]];
    }),
  );
}

/** The value of an OTLP `AnyValue`. Whole numbers are texts in JSON, because they have 64 bits. */
function plainOf(value: unknown): unknown {
  const [text, flag, whole, number] = ['stringValue', 'boolValue', 'intValue', 'doubleValue'].map((name) =>
    fieldOf(value, name),
  );
  if (typeof text === 'string') return text;
  if (typeof flag === 'boolean') return flag;
  if (typeof whole === 'string' || typeof whole === 'number') return Number(whole);
  if (typeof number === 'number') return number;
  const [list, object] = [fieldOf(value, 'arrayValue'), fieldOf(value, 'kvlistValue')];
  if (list !== undefined) return listOf(list, 'values').map(plainOf);
  if (object === undefined) return undefined;
  return Object.fromEntries(
    listOf(object, 'values').map((entry) => [String(fieldOf(entry, 'key')), plainOf(fieldOf(entry, 'value'))]),
  );
}

function nanosOf(value: unknown): bigint | undefined {
  const text = typeof value === 'number' && Number.isFinite(value) ? Math.trunc(value).toFixed(0) : value;
  return typeof text === 'string' && /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
}

function nameOf(value: unknown): string {
  const name = typeof value === 'string' ? printableLine(value).trim().slice(0, MOST_NAME) : '';
  return name === '' ? 'unnamed' : name;
}

function cut(text: string): string {
  return printableText(text.slice(0, MOST_CHARACTERS));
}

function listOf(value: unknown, name: string): readonly unknown[] {
  const list = fieldOf(value, name);
  return Array.isArray(list) ? list : [];
}
