import { readFlowTarget } from '../../flows/documents/flowTarget.ts';
import { withArgument } from '../command.ts';

export const replayFlow = withArgument(readFlowTarget, ({ flows }, target) => flows().starter.replay(target));
