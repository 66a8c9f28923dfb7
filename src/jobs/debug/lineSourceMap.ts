// Source maps: ECMA-426.

export interface SourceMapFields {
  readonly version: 3;
  readonly sources: readonly string[];
  readonly names: readonly string[];
  readonly mappings: string;
  readonly sourceRoot?: string;
}

/** Column, and then index of a source, line, column, and index of a name there, all 0-based. Without a source: the column only. */
type Segment = readonly number[];

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const MORE = 32;

/**
 * A source map for a script whose lines have moved.
 *
 * @param count the lines of the script.
 * @param toSource the line of the source for one of the script, both 1-based; undefined for a line that the source does not have.
 */
export function mapOfLines(
  source: string,
  count: number,
  toSource: (line: number) => number | undefined,
): SourceMapFields {
  const lines = Array.from({ length: count }, (_, index): readonly Segment[] => {
    const line = toSource(index + 1);
    return [line === undefined ? [0] : [0, 0, line - 1, 0]];
  });
  return { version: 3, sources: [source], names: [], mappings: encode(lines) };
}

/** A source map whose sources have been edited since. @param toSource as for `mapOfLines`, with the index of the source. */
export function mapLines(
  map: SourceMapFields,
  toSource: (source: number, line: number) => number | undefined,
): SourceMapFields {
  const lines = decode(map.mappings).map((segments) =>
    segments.map((segment): Segment => {
      const [column = 0, source, line, ...rest] = segment;
      if (source === undefined || line === undefined) return segment;
      const mapped = toSource(source, line + 1);
      return mapped === undefined ? [column] : [column, source, mapped - 1, ...rest];
    }),
  );
  return { ...map, mappings: encode(lines) };
}

/** Each field but the column counts from that of the segment before it, over all lines. */
function encode(lines: readonly (readonly Segment[])[]): string {
  const last = [0, 0, 0, 0, 0];
  return lines
    .map((segments) => {
      last[0] = 0;
      return segments
        .map((segment) =>
          segment
            .map((value, field) => {
              const text = encodeNumber(value - (last[field] ?? 0));
              last[field] = value;
              return text;
            })
            .join(''),
        )
        .join(',');
    })
    .join(';');
}

function decode(mappings: string): readonly (readonly Segment[])[] {
  const last = [0, 0, 0, 0, 0];
  return mappings.split(';').map((line) => {
    last[0] = 0;
    return line
      .split(',')
      .filter((text) => text !== '')
      .map((text) =>
        decodeNumbers(text).map((value, field) => {
          const sum = (last[field] ?? 0) + value;
          last[field] = sum;
          return sum;
        }),
      );
  });
}

function encodeNumber(value: number): string {
  let rest = value < 0 ? (-value << 1) | 1 : value << 1;
  let text = '';
  do {
    const digit = rest & (MORE - 1);
    rest >>>= 5;
    text += DIGITS[rest > 0 ? digit | MORE : digit] ?? '';
  } while (rest > 0);
  return text;
}

function decodeNumbers(text: string): readonly number[] {
  const numbers: number[] = [];
  let [value, shift] = [0, 0];
  for (const character of text) {
    const digit = DIGITS.indexOf(character);
    value |= (digit & (MORE - 1)) << shift;
    shift += 5;
    if ((digit & MORE) !== 0) continue;
    numbers.push((value & 1) === 1 ? -(value >>> 1) : value >>> 1);
    [value, shift] = [0, 0];
  }
  return numbers.slice(0, 5);
}
