// CSI, OSC (ended by BEL or ST), DCS/SOS/PM/APC strings, then any other two-character escape.
// The ranges are control characters on purpose: they must never reach a terminal, a tooltip or a log view.
const ESCAPE_SEQUENCES = new RegExp(
  '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]' +
    '|(?:\\u001b\\]|\\u009d)[^\\u0007\\u001b\\u009c]*(?:\\u0007|\\u001b\\\\|\\u009c)?' +
    '|(?:\\u001b[PX^_]|[\\u0090\\u0098\\u009e\\u009f])[^\\u001b\\u009c]*(?:\\u001b\\\\|\\u009c)?' +
    '|\\u001b[ -/]*[0-~]?',
  'g',
);
const CONTROLS = new RegExp(
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]',
  'g',
);

/**
 * Text of a job, a file name or a server's message, safe to show: without escape sequences, control characters other
 * than tab and line feed, and bidirectional overrides. A carriage return before a line feed is dropped with the rest.
 */
export function plainText(text: string): string {
  return text.replace(ESCAPE_SEQUENCES, '').replace(CONTROLS, '');
}
