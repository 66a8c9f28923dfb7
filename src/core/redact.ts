const PLACEHOLDER = '[redacted]';
const BEARER = /\b(Bearer\s+)[^\s"',;]+/gi;
// API keys of the job service.
const SERVICE_KEY = /\bfw_[\w-]{40,}/g;
// User name and password before a host (RFC 3986, 3.2.1), even if a `/` or `@` in the password is not encoded, but not the `@` of a
// path. All lengths are bounded, so that the time is linear.
const URL_USERINFO =
  /(\b[a-z][a-z0-9+.-]{0,20}:\/\/)(?:[^\s/?#"']{1,1000}@|[^\s/?#"':]{0,100}:(?!\d{1,5}[/?#])[^\s"']{0,1000}@)/gi;

/** Removes secrets from text for people and logs: known values (plain, URL-encoded and in base64), bearer tokens, API keys, passwords in URLs. */
export class Redactor {
  readonly #secrets = new Set<string>();

  /** Ignores values shorter than 6 characters: replacing them would garble ordinary text and protect nothing. */
  add(secret: string): void {
    if (secret.length < 6) return;
    this.#secrets.add(secret);
    this.#secrets.add(Buffer.from(secret).toString('base64'));
    this.#secrets.add(encodeURIComponent(secret));
  }

  redact(text: string): string {
    let clean = text;
    for (const secret of this.#secrets) clean = clean.replaceAll(secret, PLACEHOLDER);
    return withoutUserinfo(clean).replace(BEARER, `$1${PLACEHOLDER}`).replace(SERVICE_KEY, PLACEHOLDER);
  }
}

/** The text without user names and passwords in its URLs. */
export function withoutUserinfo(text: string): string {
  return text.includes('://') ? text.replace(URL_USERINFO, `$1${PLACEHOLDER}@`) : text;
}
