/** A tool that this machine does not have and that could not be installed. The message is a reason for a person. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}
