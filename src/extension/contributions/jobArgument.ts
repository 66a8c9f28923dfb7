import { textField } from '../../core/jsonFields.ts';

/** The job that a command is about: its ID from a row of the view or from an argument; undefined if none was given. */
export function readJobArgument(argument: unknown): string | undefined {
  return typeof argument === 'string' ? argument : (textField(argument, 'id') ?? textField(argument, 'job'));
}
