import type { DirectiveWord } from './directives.ts';
import { longOption, type OptionName, shortOption } from './optionNames.ts';

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
