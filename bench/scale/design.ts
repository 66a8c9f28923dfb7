/** How a site's service is built. */
export interface Design {
  readonly name: string;
  /** Processes that take requests and follow jobs, each with an event loop of its own. */
  readonly fronts: number;
  /** Whether the store is a database that all of them share, rather than SQLite inside of the one. */
  readonly isShared: boolean;
  /** Whether archives and results go past the service, and are checked and packed where jobs run. */
  readonly areBytesElsewhere: boolean;
  /** How long a durable transaction takes, where it is not as measured. */
  readonly commitMs?: number;
  /** How often jobs are looked at that nobody reads; as often as the others unless said. */
  readonly unreadLookMs?: number;
  /** Times as many readers. */
  readonly readers?: number;
}

export const ONE_SERVER: Design = { name: 'one server', fronts: 1, isShared: false, areBytesElsewhere: false };
