/** The service refused the request (status 400 or above), redirected it, or sent an invalid response. */
export class RemoteError extends Error {
  override readonly name: string = 'RemoteError';
  readonly status: number;
  /** Seconds from `Retry-After`, if the service sent it. */
  readonly retryAfter: number | undefined;
  /** The service's own explanation, if it sent one. */
  readonly detail: string | undefined;

  constructor(
    status: number,
    message: string,
    options?: { cause?: unknown; retryAfter?: number | undefined; detail?: string | undefined },
  ) {
    super(message, options);
    this.status = status;
    this.retryAfter = options?.retryAfter;
    this.detail = options?.detail;
  }
}

/** The key is invalid or revoked (401, 403). */
export class AuthError extends RemoteError {
  override readonly name = 'AuthError';
}

/** The account has too few credits (402). */
export class InsufficientCreditsError extends RemoteError {
  override readonly name = 'InsufficientCreditsError';
}

/** The service did not respond in time; `cause` is the timeout. Other connection failures are the system's own errors. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
  readonly host: string;

  constructor(host: string, cause: Error) {
    super(`Request to ${host} timed out: ${cause.message}`, { cause });
    this.host = host;
  }
}
