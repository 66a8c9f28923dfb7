import { readDocument, withArgument } from '../command.ts';

export const openTrace = withArgument(readDocument, ({ flows }, uri) => flows().openTrace(uri));
