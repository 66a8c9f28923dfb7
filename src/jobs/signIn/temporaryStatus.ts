const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR = 500;

/** Whether an HTTP status says that the same request may succeed later. */
export function isTemporary(status: number): boolean {
  return status === TOO_MANY_REQUESTS || status >= SERVER_ERROR;
}
