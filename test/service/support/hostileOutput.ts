import { crc32 } from 'node:zlib';

const MARK = '@@farwharf/flow:1:';
const PART_LENGTH = 3_000;

/** Marked lines with any text in the place of their JSON, as a job that knows how they are written prints them. */
export function markedLines(json: string, { writer = '00000000', number = 1, partLength = PART_LENGTH } = {}): string {
  const parts = Math.max(1, Math.ceil(json.length / partLength));
  return Array.from({ length: parts }, (_, index) => {
    const piece = json.slice(index * partLength, (index + 1) * partLength);
    const sum = crc32(piece).toString(16).padStart(8, '0');
    return `${MARK}${writer}:${number}:${index + 1}/${parts}:${piece.length}:${sum}:${piece}\n`;
  }).join('');
}

/** JSON of a flow's event that is nested so deep. */
export function nestedEvent(depth: number): string {
  return `{"type":"x","run":1,"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
}

const TEXTS = [
  '\u001b[31m',
  '\u001b]8;;http://x\u0007',
  '\u001b]52;c;eA==\u0007',
  '\r',
  '\u2028',
  '\u202e',
  '€',
  '🚢',
  'plain text',
  '\0',
  '@@farwharf',
  `${MARK}00000000:1:1/99999:`,
  MARK,
  '{"stream":"stdout","text":"x"}',
  '\\ud800',
] as const;

/** Output that tries to break its readers: marks, nests, broken UTF-8, huge lines, many tiny ones, escape sequences. */
export function hostileOutput(random: () => number, pieces: number): Buffer {
  const upTo = (most: number): number => Math.floor(random() * most);
  const choose = <T>(choices: readonly T[]): T => choices[upTo(choices.length)] as T;
  const event = (): string =>
    choose([
      () => nestedEvent(upTo(70_000)),
      () => `{"type":"x","run":1e999,"__proto__":{"toJSON":1},"text":"${'\\u0001'.repeat(upTo(3_000))}"}`,
      () => `[${'1e20,'.repeat(upTo(20_000))}1]`,
      () => '{"type":',
      () => '{"type":"log","run":1,"constructor":null}',
    ])();
  const piece = (): Buffer =>
    choose([
      () => Buffer.from(choose(TEXTS).repeat(upTo(50))),
      () => Buffer.from(choose(TEXTS).repeat(upTo(20_000))),
      () => Buffer.from('\n'.repeat(upTo(5_000))),
      () => Buffer.from(Array.from({ length: upTo(2_000) }, () => upTo(256))),
      () => {
        const writer = upTo(2 ** 32)
          .toString(16)
          .padStart(8, '0');
        return Buffer.from(
          markedLines(event(), { writer, number: upTo(5), partLength: choose([1, 7, 500, 3_000]) }).slice(
            0,
            choose([40, 400_000]),
          ),
        );
      },
    ])();
  return Buffer.concat(Array.from({ length: pieces }, piece));
}
