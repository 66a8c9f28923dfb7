import { readDocument, withArgument } from '../command.ts';

export const askAboutFailure = withArgument(readDocument, ({ failures }, uri) => failures().ask(uri));
