import type { FreezeEventData } from '../protocol/debugging.ts';
import type {
  ArtifactEventData,
  EndEventData,
  FlowEventData,
  LogEventData,
  StateEventData,
  UsageEventData,
} from '../protocol/schemas.ts';

interface Named<Name extends string, Data> {
  readonly event: Name;
  readonly data: Data;
  /** Present if the service sent one. */
  readonly id?: string;
}

// Exists for the compiler only: a type for names that are not listed, which a comparison with a listed name excludes. `string` would stay,
// and make `data` unknown again.
declare enum UnlistedName {
  name = 'the name of another event',
}

/**
 * An event of a job, by its name. `data` is decoded JSON, or the text itself if it is not JSON, and typed as Farwharf's service sends it: an
 * event of another service may have the same name and other data. An event without a name is called `message`. Events of other names have
 * unknown data; compare these names as strings: `const name: string = event.event`.
 */
export type JobEvent =
  | Named<'state', StateEventData>
  | Named<'log', LogEventData>
  | Named<'flow', FlowEventData>
  | Named<'usage', UsageEventData>
  | Named<'freeze', FreezeEventData>
  | Named<'artifact', ArtifactEventData>
  | Named<'end', EndEventData>
  | Named<'message' | UnlistedName, unknown>;
