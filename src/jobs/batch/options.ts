import type { DirectiveWord } from './directives.ts';
import { longOption, type OptionName, shortOption } from './optionNames.ts';

const GIB: Readonly<Record<string, number>> = { K: 2 ** -20, M: 2 ** -10, G: 1, T: 2 ** 10 };
const TIME = /^(?:(\d{1,6})-(\d{1,9})(?::(\d{1,9})(?::(\d{1,9}))?)?|(\d{1,9})(?::(\d{1,9})(?::(\d{1,9}))?)?)$/;
const MOST_TASKS = 100_000;

/** An option of a batch script with its value. */
export interface BatchOption extends OptionName {
  /** 1-based. */
  readonly line: number;
  /** Empty if the option has none. */
  readonly argument: string;
}

/** A word that sbatch would refuse, and why. */
export interface WrongWord extends DirectiveWord {
  readonly problem: string;
}

interface GpuRequest {
  readonly count: number;
  /** Such as `a100`; undefined for any. */
  readonly type: string | undefined;
}

export interface ArrayRequest {
  readonly tasks: readonly number[];
  /** How many may run at once; undefined for no limit. */
  readonly concurrency: number | undefined;
}

/** The options in the words of the `#SBATCH` lines: long or short, with the value after `=`, after a blank or, if short, at once. */
export function readOptions(words: readonly DirectiveWord[]): {
  readonly options: readonly BatchOption[];
  readonly wrong: readonly WrongWord[];
} {
  const options: BatchOption[] = [];
  const wrong: WrongWord[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index];
    if (word === undefined) break;
    const [, dashes = '', name = '', inline] = /^(--?)([A-Za-z][\w-]*|)(?:=(.*))?$/s.exec(word.text) ?? [];
    const isLong = dashes === '--' && name !== '';
    if (!isLong && !/^-[A-Za-z]/.test(word.text)) {
      wrong.push({ ...word, problem: 'is not an option of sbatch' });
      continue;
    }
    const option = isLong ? longOption(name) : shortOption(word.text.charAt(1));
    if (option === undefined) {
      wrong.push({ ...word, problem: 'is not an option of sbatch' });
      continue;
    }
    const attached = isLong ? inline : shortArgument(word.text);
    if (option.value !== 'required') {
      options.push({ ...option, line: word.line, argument: attached ?? '' });
      continue;
    }
    const argument = attached ?? words[index + 1]?.text;
    if (attached === undefined) index += 1;
    if (argument === undefined) wrong.push({ ...word, problem: 'lacks its value' });
    else options.push({ ...option, line: word.line, argument });
  }
  return { options, wrong };
}

/** `4` of `-n4` and `-n=4`; undefined for `-n`. Slurm strips the `=`. */
function shortArgument(text: string): string | undefined {
  const rest = text.slice(2).replace(/^=/, '');
  return rest === '' ? undefined : rest;
}

/** Seconds of a time limit: `90`, `90:00`, `1:30:00`, `1-12`, `1-12:30`, `1-12:30:00`; undefined for others, and for no limit. */
export function parseTime(text: string): number | undefined {
  const match = TIME.exec(text.trim());
  if (match === null) return undefined;
  const [, days, hours, minutes, seconds, first = 0, second, third] = match.map((part) =>
    part === undefined ? undefined : Number(part),
  );
  const limit =
    days !== undefined
      ? days * 86_400 + (hours ?? 0) * 3600 + (minutes ?? 0) * 60 + (seconds ?? 0)
      : third === undefined
        ? first * 60 + (second ?? 0)
        : first * 3600 + (second ?? 0) * 60 + third;
  return limit === 0 ? undefined : limit;
}

/** A number above 0; undefined for others. `2-4` nodes are 2. */
export function parseCount(text: string): number | undefined {
  const [, digits] = /^(\d{1,7})(?:-\d{1,7})?$/.exec(text.trim()) ?? [];
  return Number(digits ?? 0) || undefined;
}

/** GiB of `4000`, `4000M`, `4G`, `1T`; undefined for others. A bare number is MiB, and 0 is all memory of a node. */
export function parseMemory(text: string): number | undefined {
  const [, digits, unit = 'M'] = /^(\d{1,12}(?:\.\d{1,6})?)([KMGT]?)B?$/i.exec(text.trim()) ?? [];
  if (digits === undefined) return undefined;
  return Number(digits) * (GIB[unit.toUpperCase() || 'M'] ?? 0) || undefined;
}

/** The GPUs of `2`, `a100:2`, `a100` and lists of them; with `gpu:` before each in a generic resource. Undefined for others. */
export function parseGpus(text: string, isGeneric: boolean): GpuRequest | undefined {
  let count = 0;
  let type: string | undefined;
  for (const part of text.split(',')) {
    // Which sockets the GPUs belong to is in parentheses.
    const words = part
      .trim()
      .replace(/\([^)]*\)$/, '')
      .split(/[:=]/);
    if (isGeneric && !['gpu', 'gres/gpu'].includes(words.shift() ?? '')) return undefined;
    const lastNumber = /^\d{1,4}$/.test(words.at(-1) ?? '') ? Number(words.pop()) : 1;
    if (words.length > 1 || words.some((word) => !/^[\w.-]{1,64}$/.test(word))) return undefined;
    count += lastNumber;
    type ??= words[0];
  }
  return count === 0 ? undefined : { count, type };
}

/** The tasks of `0-15`, `1,3,5-7`, `0-15:4`, `0-15%4`; undefined for others, and for more than 100,000. */
export function parseArray(text: string): ArrayRequest | undefined {
  const [, list = '', limit] = /^([\d,:-]{1,10000})(?:%(\d{1,6}))?$/.exec(text.trim()) ?? [];
  const tasks = new Set<number>();
  for (const part of list.split(',')) {
    const [, first, last = first, step = '1'] = /^(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?$/.exec(part) ?? [];
    if (first === undefined || Number(step) === 0 || Number(last) < Number(first)) return undefined;
    for (let task = Number(first); task <= Number(last); task += Number(step)) {
      tasks.add(task);
      if (tasks.size > MOST_TASKS) return undefined;
    }
  }
  return { tasks: [...tasks], concurrency: Number(limit ?? 0) || undefined };
}
