import { HTTPException } from 'hono/http-exception';

/** An error response with this status, whose body has `detail`. */
export function refusal(
  status: 400 | 401 | 402 | 403 | 404 | 409 | 413 | 415 | 422 | 426 | 503 | 507,
  detail: string,
): HTTPException {
  return new HTTPException(status, { message: detail });
}

/** A 409 about something that may be over in a moment. */
export class RefusalForNow extends HTTPException {
  readonly retryAfterSeconds = 1;

  constructor(detail: string) {
    super(409, { message: detail });
  }
}
