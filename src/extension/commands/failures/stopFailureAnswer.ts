import { readDocument, withArgument } from '../command.ts';

export const stopFailureAnswer = withArgument(readDocument, ({ failures }, uri) => failures().stop(uri));
