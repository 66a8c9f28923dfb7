import { readDocument, withArgument } from '../command.ts';

export const copyFailure = withArgument(readDocument, ({ failures }, uri) => failures().copy(uri));
