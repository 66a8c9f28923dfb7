import { askFolder } from '../../search/ask.ts';
import { searchFolder as search } from '../../search/searchFolder.ts';
import { readText, withArgument } from '../command.ts';

/** The argument is the first query. */
export const searchFolder = withArgument(readText, (context, query) =>
  search(context.search(), query, (results) => {
    askFolder(context.search(), results).catch(context.search().report);
  }),
);
