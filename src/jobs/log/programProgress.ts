import * as l10n from '@vscode/l10n';
import { formatDuration } from '../../core/text/format.ts';

/** The progress that a program reports. */
export interface JobProgress {
  /** 0 to 100. */
  readonly percent?: number;
  /** `epoch 1 of 3`. */
  readonly step?: string;
  readonly secondsLeft?: number;
}

const MAX_CHARACTERS = 500;
// A percentage alone may be an accuracy, so a bar, an estimate or the start of the line must show that it is progress.
const PERCENT = /(\d{1,3}(?:\.\d{1,3})?) ?%/;
const LEADING_PERCENT = /^(?:(?:[\w ./-]{0,60}:)? *\d{1,3}(?:\.\d{1,3})? ?%\||\d{1,3}(?:\.\d{1,3})? ?%$)/;
const BAR = /[=#>.\-━╸█▏▎▍▌▋▊▉]{4,}|[█━╸]/;
const STEP =
  /\b(cell|epoch|step|iter|iteration|batch|fold|trial|round)s?\b[ :[(#]{0,3}(\d{1,9}) ?(?:\/|of) ?(\d{1,9})\b/i;
const LEADING_COUNT = /^ *\[? *(\d{1,9}) ?\/ ?(\d{1,9})\b/;
const TIME = String.raw`((?:\d{1,3}d(?:ays?,?)? ?)?\d{1,3}:\d\d(?::\d\d)?|(?:\d{1,3}h ?)?(?:\d{1,4}m ?)?\d{1,5}s\b)`;
// tqdm writes [elapsed<left, rate], others ETA, and rich only a time after its bar.
const LEFT = [
  new RegExp(`<${TIME}`),
  new RegExp(String.raw`\beta:? *${TIME}`, 'i'),
  new RegExp(String.raw`[━╸] .*?${TIME}\s*$`),
];

/**
 * Reads how far a program is from its last line of output, as written by tqdm, Keras, pip, rich, wget and similar programs.
 *
 * @returns undefined if the line shows no progress.
 */
export function readProgress(lastLine: string): JobProgress | undefined {
  const line = lastLine.slice(0, MAX_CHARACTERS).trim();
  const [, name = '', at, of] = STEP.exec(line) ?? [];
  const secondsLeft = LEFT.map((pattern) => readSeconds(pattern.exec(line)?.[1])).find((found) => found !== undefined);
  const percent = readPercent(line, secondsLeft !== undefined);
  if (percent === undefined && of === undefined) return undefined;
  return {
    ...(percent !== undefined && { percent }),
    ...(of !== undefined && { step: `${name.toLowerCase()} ${at} of ${of}` }),
    ...(secondsLeft !== undefined && { secondsLeft }),
  };
}

/** `62 % · epoch 1 of 3 · 4 min left`. */
export function describeProgramProgress({ percent, step, secondsLeft }: JobProgress): string {
  return [
    percent === undefined ? undefined : `${Math.floor(percent)} %`,
    step,
    secondsLeft === undefined ? undefined : l10n.t('{0} left', formatDuration(secondsLeft)),
  ]
    .filter((part) => part !== undefined)
    .join(' · ');
}

function readPercent(line: string, hasEstimate: boolean): number | undefined {
  const hasBar = BAR.test(line);
  const percent = PERCENT.exec(line)?.[1];
  if (percent !== undefined) {
    const isProgress = hasBar || hasEstimate || LEADING_PERCENT.test(line);
    return isProgress && Number(percent) <= 100 ? Number(percent) : undefined;
  }
  const [, done, all] = (hasBar || hasEstimate ? LEADING_COUNT.exec(line) : null) ?? [];
  return all === undefined || Number(done) > Number(all) ? undefined : (Number(done) / Number(all)) * 100;
}

/** Seconds of `1:02:03`, `00:06`, `2 days, 1:00:00` and `1h 2m 3s`. */
function readSeconds(time: string | undefined): number | undefined {
  if (time === undefined) return undefined;
  const part = (unit: string): number => Number(new RegExp(`(\\d+)${unit}`).exec(time)?.[1] ?? 0);
  const clock = /\d+(?::\d+)+/.exec(time)?.[0].split(':') ?? [];
  const seconds = clock.reduce((sum, digits) => sum * 60 + Number(digits), 0);
  return part('d') * 86_400 + (clock.length > 0 ? seconds : part('h') * 3600 + part('m') * 60 + part('s'));
}
