import { textField } from '../../../core/jsonFields.ts';
import { type Command, withArgument } from '../command.ts';

/** Shows more rows of the group that the argument names, or without one, older jobs. */
export const showMoreJobs: Command = withArgument(
  (argument) => textField(argument, 'group'),
  ({ services, tree }, group) => (group === undefined ? services.store.showMore() : tree.showMoreOf(group)),
);
