import * as l10n from '@vscode/l10n';

const BYTE_UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

// No real amount is that large. A service or a job can send numbers of 300 digits, which would fill the screen.
const VAST = 1e15;

/** `512 B`, `3.2 MB`: decimal units, one decimal below ten. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < BYTE_UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1;
  return `${formatDecimal(value, digits)} ${BYTE_UNITS[unit]}`;
}

/** `0.2 s`, `42 s`, `4 min`, `1 h 10 min`, `2 d 3 h`. */
export function formatDuration(seconds: number): string {
  if (isVast(seconds)) return `${formatVast(seconds / 86_400)} d`;
  if (seconds < 9.95) return `${formatDecimal(seconds, 1)} s`;
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** `<1 ms`, `12 ms`, `3.4 s`, `2 min`: a duration in microseconds. */
export function formatMicros(micros: number): string {
  if (micros < 1_000) return '<1 ms';
  return micros < 995_000 ? `${Math.round(micros / 1_000)} ms` : formatDuration(micros / 1_000_000);
}

/** `1,312`, `1.2`, `0.05`, `0.0022`: credits or hours without their unit. Small amounts have more digits, so that they are not shown as 0. */
export function formatCredits(credits: number): string {
  const size = Math.abs(credits);
  const digits = size >= 100 ? 1 : size >= 0.01 ? 2 : 4;
  return formatDecimal(credits, digits, 0);
}

/** `$0.0042`, `$0.02`, `$12.30`: US dollars with two significant digits, from a dollar on with cents. */
export function formatDollars(dollars: number): string {
  if (isVast(dollars)) return `$${formatVast(dollars)}`;
  return inLanguage(dollars >= 0.995 ? `$${dollars.toFixed(2)}` : `$${Number(dollars.toPrecision(2))}`);
}

/** `one`, or `many` with the count in place of its `{0}`: `plural(2, l10n.t('1 file'), l10n.t('{0} files'))`. */
export function plural(count: number, one: string, many: string): string {
  return count === 1 ? one : many.replace('{0}', formatInteger(count));
}

/** `20,000`, as the language writes it. */
export function formatInteger(value: number): string {
  return isVast(value) ? formatVast(value) : value.toLocaleString(language());
}

/** `1,234.5`, with all its digits, as the language writes it. */
export function formatNumber(value: number): string {
  return isVast(value) ? formatVast(value) : value.toLocaleString(language(), { maximumSignificantDigits: 15 });
}

/** `0.1235`, `1e-7`: four significant digits, as the language writes them; `NaN` and `Infinity` as they are. */
export function formatMeasured(value: number): string {
  return inLanguage(String(Number.isFinite(value) ? Number(value.toPrecision(4)) : value));
}

/** `850`, `8.1k`: a count in three digits or so. */
export function formatShort(count: number): string {
  if (isVast(count)) return formatVast(count);
  return count < 1_000 ? String(count) : `${inLanguage((count / 1_000).toFixed(count < 99_950 ? 1 : 0))}k`;
}

/** `.` or `,`: what the language writes before decimals. */
export function decimalMark(): string {
  const parts = new Intl.NumberFormat(language()).formatToParts(0.5);
  return parts.find(({ type }) => type === 'decimal')?.value ?? '.';
}

function isVast(value: number): boolean {
  return Math.abs(value) >= VAST;
}

/** `1.5e+300`, as the language writes it. */
function formatVast(value: number): string {
  return inLanguage(exponential(value));
}

function exponential(value: number): string {
  return value.toExponential(3).replace(/\.?0*e/, 'e');
}

/** A number as JavaScript writes it, with the decimal mark of the language. */
function inLanguage(text: string): string {
  return text.replace('.', decimalMark());
}

/** `1,234.5`, as the language writes it, with at most `digits` decimals and at least `least`. */
function formatDecimal(value: number, digits: number, least = digits): string {
  if (isVast(value)) return formatVast(value);
  // `toLocaleString` alone rounds a few values elsewhere: 1.005 to 1.01, although the number is below 1.005.
  return decimalFormat(digits, least).format(Number(value.toFixed(digits)));
}

const DECIMAL_FORMATS = new Map<string, Intl.NumberFormat>();

/** Creating a format takes sixty times as long as using it, and a list of results can have 100,000 sizes. */
function decimalFormat(digits: number, least: number): Intl.NumberFormat {
  const key = `${language()} ${digits} ${least}`;
  let format = DECIMAL_FORMATS.get(key);
  if (format === undefined) {
    format = new Intl.NumberFormat(language(), {
      minimumFractionDigits: least,
      maximumFractionDigits: digits,
      signDisplay: 'negative', // no minus before 0
    });
    DECIMAL_FORMATS.set(key, format);
  }
  return format;
}

/** The language of the texts: English outside VS Code. */
function language(): string {
  return l10n.t('en-US');
}

/** `1 file`, `41 files`, `20,000 files`. */
export function formatCount(count: number, singular: string, plural = `${singular}s`): string {
  const number = isVast(count) ? exponential(count) : count.toLocaleString('en-US');
  return `${number} ${count === 1 ? singular : plural}`;
}
