/**
 * Adds a host to the message of the system's own error, which often names only an IP address, or nothing: `self-signed certificate
 * (gpu.example.org)`. All else of the error stays.
 */
export function nameHost(error: Error, host: string): void {
  if (error.message.includes(host)) return;
  const message = `${error.message} ${suffix(host)}`;
  // Consoles print the stack, which contains the message as it was.
  if (error.stack !== undefined) error.stack = error.stack.replace(error.message, () => message);
  error.message = message;
}

/** A message without the host that `nameHost` added, for sentences that name it themselves. */
export function withoutHost(message: string, host: string): string {
  return message.replace(` ${suffix(host)}`, '');
}

function suffix(host: string): string {
  return `(${host})`;
}
