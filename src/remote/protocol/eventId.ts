// The ID is sent back in a header, which services limit to some kilobytes.
const MAX_LENGTH = 1_024;
const CONTROL = /[\u0000-\u001f\u007f]/;

/**
 * Whether the ID of an event can be sent back as `Last-Event-ID`. Others are ignored: an event without an ID is read normally, but a
 * header that cannot be sent would end the log at the next reconnection.
 */
export function isEventId(id: string): boolean {
  return id.length <= MAX_LENGTH && !CONTROL.test(id);
}

/** The ID as a header value, with one character for each byte of its UTF-8 (WHATWG HTML, 9.2.3). */
export function eventIdHeader(id: string): string {
  return Buffer.from(id).toString('latin1');
}
