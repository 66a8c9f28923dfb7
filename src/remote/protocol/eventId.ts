// The id goes back in a header, of which a service takes some kilobytes.
const MAX_LENGTH = 1_024;
const CONTROL = /[\u0000-\u001f\u007f]/;

/**
 * Whether the id of an event can be sent back as `Last-Event-ID`. One that cannot is no id: an event without one is read like any
 * other, and a log that could not be continued after a break would have ended.
 */
export function isEventId(id: string): boolean {
  return id.length <= MAX_LENGTH && !CONTROL.test(id);
}

/** The id as the text of a header, which has a character for each byte of its UTF-8 (WHATWG HTML, 9.2.3). */
export function eventIdHeader(id: string): string {
  return Buffer.from(id).toString('latin1');
}
